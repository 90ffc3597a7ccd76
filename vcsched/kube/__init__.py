"""The wire: Kubernetes objects as typed values, and everything that speaks to the API server.

This floor knows how objects look, where they live, how to log in, follow, write and elect; it decides
nothing about scheduling. It runs on one thread of its own (`io`); the session thread meets it through the
plain values of `link` alone, and imports besides that only `objects` and `keys`.
"""
