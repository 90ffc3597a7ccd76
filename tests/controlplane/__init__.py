"""A real control plane for the end-to-end tests: kube-apiserver and etcd, built once, started in seconds.

No kubelet, controller manager or scheduler runs here: what those would do, a test does itself.
"""
