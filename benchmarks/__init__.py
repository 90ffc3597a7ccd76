"""Benchmarks: how fast the scheduler is, measured beside fixed yardsticks. `python -m benchmarks quick|full|e2e`.

Each benchmark runs in a process of its own and gives figures; `report` prints them and `out/NAME.json` keeps
them. A figure is judged by the best of its repetitions. Machines are noisy, so each is also given in CPU time
and as a multiple of a loop that was timed in the same process (`yardstick`). Nothing here is a test.
"""
