"""The column engine: growing numpy tables, row logs, two number worlds, live queues and the undo journal.

Knows no Kubernetes and imports numpy only; what the columns mean is `vcsched.cache`'s business.
"""
