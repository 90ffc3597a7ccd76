"""Reading a pod of 6 kB from the wire, as the watch and the first list do for every one."""

from __future__ import annotations

import json
import time
from typing import Any

from benchmarks.figures import Figure, amount
from vcsched.kube.objects import Pod
from vcsched.kube.objects import decode as decode_object
from vcsched.simulator.world import World

PODS = 500
BYTES = 6_000


def decode() -> list[Figure]:
    """Mean of 500 different pods of 6 kB."""
    raw = [_pod(number) for number in range(PODS)]
    values = []
    for _ in range(15):
        start = time.thread_time()
        for text in raw:
            decode_object(Pod, text)
        values.append((time.thread_time() - start) / PODS * 1e6)
    size = sum(map(len, raw)) / PODS
    return [amount("a pod of 6 kB", "µs", values, at_most=25, note=f"{size:,.0f} bytes, CPU time")]


def _pod(number: int) -> bytes:
    """A pod as a job controller makes it: environment, mounts, probes, conditions, managed fields."""
    world = World()
    gang = world.gang(f"train-{number}", pods=1, cpu=4, memory="16Gi", requests={"nvidia.com/gpu": 1})
    pod = gang.pods[0]
    container = pod["spec"]["containers"][0]
    container["env"] = [{"name": f"VC_WORKER_{n}_HOSTS", "value": f"train-{number}-{n}.train"} for n in range(12)]
    container["volumeMounts"] = [{"name": f"data-{n}", "mountPath": f"/data/{n}", "readOnly": True} for n in range(6)]
    container["livenessProbe"] = {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10}
    pod["spec"]["volumes"] = [{"name": f"data-{n}", "configMap": {"name": f"data-{n}"}} for n in range(6)]
    pod["spec"]["tolerations"] = [
        {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for what in ("not-ready", "unreachable")
    ]
    fields: dict[str, Any] = {
        "f:metadata": {"f:labels": {f"f:volcano.sh/field-{n}": {} for n in range(10)}},
        "f:spec": {},
    }
    manager = {"manager": "vc-controller-manager", "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}
    pod["metadata"]["managedFields"] = [manager]
    missing = BYTES - len(json.dumps(pod)) - 60
    pod["metadata"].setdefault("annotations", {})["example.com/padding"] = "x" * max(missing, 0)
    return json.dumps(pod).encode()
