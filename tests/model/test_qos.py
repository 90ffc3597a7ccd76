"""Quality of service classes, by the rule of Kubernetes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vcsched.kube.objects import Pod, decode
from vcsched.model.qos import Qos, qos

WHOLE = {"cpu": "1", "memory": "1Gi"}


def container(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests or {}, "limits": limits or {}}}


@pytest.mark.parametrize(
    ("containers", "init", "expected"),
    [
        ([container()], [], Qos.BEST_EFFORT),
        ([container({"cpu": "0"}, {"nvidia.com/gpu": "1"})], [], Qos.BEST_EFFORT),
        ([container({"cpu": "1"})], [], Qos.BURSTABLE),
        ([container({"memory": "1Gi"}, WHOLE)], [], Qos.GUARANTEED),
        ([container(limits=WHOLE)], [], Qos.GUARANTEED),
        ([container({"cpu": "1000m", "memory": "1024Mi"}, WHOLE)], [], Qos.GUARANTEED),
        ([container({"cpu": "500m"}, WHOLE)], [], Qos.BURSTABLE),
        ([container(limits={"cpu": "1"})], [], Qos.BURSTABLE),
        ([container(limits=WHOLE), container()], [], Qos.BURSTABLE),
        ([container(limits=WHOLE)], [container()], Qos.BURSTABLE),
        ([container()], [container({"cpu": "1"})], Qos.BURSTABLE),
    ],
)
def test_a_class_follows_from_what_all_containers_ask_and_may_use(
    containers: list[Any], init: list[Any], expected: Qos
) -> None:
    spec = {"containers": containers, "initContainers": init}
    pod = decode(Pod, json.dumps({"metadata": {"name": "p"}, "spec": spec}).encode())

    assert qos(pod) is expected
