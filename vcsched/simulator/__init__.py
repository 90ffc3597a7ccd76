"""The simulator: a Kubernetes API server in one process, with pods that run, for tests, demo, benchmarks.

`World` writes the objects, `ApiServer` serves them; the kubelet and ReplicaSet stand-ins make them live. It
is no part of the scheduler: it imports the wire at most, and only `cli` and tests import it.
"""
