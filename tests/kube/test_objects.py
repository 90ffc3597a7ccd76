"""Objects are read as they stand in the API: its spellings, its nulls, its zero values."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from vcsched.kube.objects import KINDS, Node, Pod, PodGroup, Queue, decode, key_of


def read(kind: type[Any], obj: dict[str, Any]) -> Any:
    return decode(kind, json.dumps(obj).encode())


def test_a_pod_is_read_with_the_api_s_spellings() -> None:
    pod = read(
        Pod,
        {
            "metadata": {
                "name": "p",
                "namespace": "ns",
                "resourceVersion": "7",
                "creationTimestamp": "2026-01-02T03:04:05Z",
                "managedFields": [{"manager": "x"}],
            },
            "spec": {
                "nodeName": "n1",
                "containers": [
                    {
                        "name": "c",
                        "ports": [{"hostPort": 80, "hostIP": "10.0.0.1"}],
                        "resources": {"requests": {"cpu": 1, "memory": "1Gi"}},
                    }
                ],
                "affinity": {
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
                        ]
                    }
                },
                "volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}, {"name": "w"}],
            },
        },
    )
    assert key_of(pod) == "ns/p"
    assert pod.metadata.creation_timestamp.isoformat() == "2026-01-02T03:04:05+00:00"
    (container,) = pod.spec.containers
    assert container.ports[0].host_ip == "10.0.0.1"
    assert container.resources.requests == {"cpu": 1, "memory": "1Gi"}
    (term,) = pod.spec.affinity.pod_anti_affinity.required
    assert (term.topology_key, term.label_selector.match_labels) == ("zone", {"a": "b"})
    assert [v.ephemeral is not None for v in pod.spec.volumes] == [True, False]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_an_empty_object_has_zero_values(kind: type[Any]) -> None:
    assert read(kind, {}) == kind()


def test_nulls_that_mean_something_stay_nulls() -> None:
    assert read(Queue, {"status": {"allocated": None}}).status.allocated is None
    assert read(Queue, {"spec": {"reclaimable": None}}).spec.reclaimable is None
    assert read(PodGroup, {"spec": {"minResources": None}}).spec.min_resources is None
    assert read(PodGroup, {"spec": {"minResources": {}}}).spec.min_resources == {}
    assert read(Node, {"metadata": {"creationTimestamp": None}}).metadata.creation_timestamp is None


def test_nulls_elsewhere_mean_not_there() -> None:
    pod = read(Pod, {"metadata": {"labels": None}, "spec": {"containers": None}, "status": None})
    assert pod == Pod()


def test_a_wrong_type_names_the_field() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"spec\.weight"):
        read(Queue, {"spec": {"weight": "heavy"}})


def test_paths_are_those_of_the_api() -> None:
    assert KINDS[Pod].path() == "/api/v1/pods"
    assert KINDS[Pod].path("ns", "p", "binding") == "/api/v1/namespaces/ns/pods/p/binding"
    assert KINDS[Queue].path("", "q", "status") == "/apis/scheduling.volcano.sh/v1beta1/queues/q/status"
