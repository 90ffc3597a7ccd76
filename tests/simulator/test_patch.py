"""The three patch formats."""

import copy

import pytest

from vcsched.simulator.errors import ApiError
from vcsched.simulator.patch import json_patch, merge_patch, strategic_merge

POD = {
    "metadata": {"labels": {"a": "1", "b": "2"}, "finalizers": ["x"]},
    "spec": {
        "containers": [{"name": "one", "image": "i"}, {"name": "two", "image": "j"}],
        "tolerations": [{"key": "k"}],
        "schedulingGates": [{"name": "g"}, {"name": "h"}],
    },
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}]},
}


@pytest.mark.parametrize(
    ("patch", "path", "result"),
    [
        ({"metadata": {"labels": {"a": None, "c": "3"}}}, ("metadata", "labels"), {"b": "2", "c": "3"}),
        ({"spec": {"tolerations": []}}, ("spec", "tolerations"), []),
        ({"status": None}, ("status",), None),
    ],
    ids=["null removes a key", "a list is replaced", "null removes an object"],
)
def test_merge_patch(patch: dict, path: tuple[str, ...], result: object) -> None:
    before = copy.deepcopy(POD)
    made = merge_patch(POD, patch)
    for step in path:
        made = made.get(step)
    assert made == result
    assert before == POD


@pytest.mark.parametrize(
    ("patch", "path", "result"),
    [
        (
            {"status": {"conditions": [{"type": "Ready", "status": "False"}, {"type": "PodScheduled"}]}},
            ("status", "conditions"),
            [
                {"type": "Ready", "status": "False"},
                {"type": "Initialized", "status": "True"},
                {"type": "PodScheduled"},
            ],
        ),
        (
            {"spec": {"containers": [{"name": "two", "image": "new"}]}},
            ("spec", "containers"),
            [{"name": "one", "image": "i"}, {"name": "two", "image": "new"}],
        ),
        (
            {"spec": {"containers": [{"name": "one", "$patch": "delete"}]}},
            ("spec", "containers"),
            [{"name": "two", "image": "j"}],
        ),
        (
            {
                "spec": {
                    "$setElementOrder/containers": [{"name": "two"}, {"name": "one"}],
                    "containers": [{"name": "one", "image": "k"}],
                }
            },
            ("spec", "containers"),
            [{"name": "two", "image": "j"}, {"name": "one", "image": "k"}],
        ),
        ({"spec": {"tolerations": [{"key": "z"}]}}, ("spec", "tolerations"), [{"key": "z"}]),
        (
            {"spec": {"schedulingGates": [{"name": "g", "$patch": "delete"}]}},
            ("spec", "schedulingGates"),
            [{"name": "h"}],
        ),
        ({"metadata": {"finalizers": ["y"]}}, ("metadata", "finalizers"), ["x", "y"]),
        (
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x"]}},
            ("metadata", "finalizers"),
            [],
        ),
        ({"metadata": {"labels": {"$patch": "replace", "z": "9"}}}, ("metadata", "labels"), {"z": "9"}),
        ({"spec": {"$retainKeys": ["containers"]}}, ("spec", "tolerations"), None),
    ],
    ids=[
        "conditions merge by type",
        "containers merge by name",
        "an element is deleted",
        "the order is set",
        "tolerations are replaced whole",
        "a gate is deleted",
        "finalizers are united",
        "a finalizer is removed",
        "a map is replaced",
        "only named keys are kept",
    ],
)
def test_strategic_merge(patch: dict, path: tuple[str, ...], result: object) -> None:
    before = copy.deepcopy(POD)
    made = strategic_merge(POD, patch)
    for step in path:
        made = made.get(step)
    assert made == result
    assert before == POD


def test_json_patch_does_all_six_operations() -> None:
    made = json_patch(
        POD,
        [
            {"op": "test", "path": "/metadata/labels/a", "value": "1"},
            {"op": "replace", "path": "/metadata/labels/a", "value": "9"},
            {"op": "remove", "path": "/metadata/labels/b"},
            {"op": "add", "path": "/metadata/labels/x~1y", "value": "slash"},
            {"op": "add", "path": "/spec/tolerations/-", "value": {"key": "last"}},
            {"op": "move", "from": "/spec/schedulingGates", "path": "/spec/gates"},
            {"op": "copy", "from": "/spec/containers/0", "path": "/spec/containers/1"},
        ],
    )
    assert made["metadata"]["labels"] == {"a": "9", "x/y": "slash"}
    assert made["spec"]["tolerations"] == [{"key": "k"}, {"key": "last"}]
    assert made["spec"]["gates"] == [{"name": "g"}, {"name": "h"}]
    assert [each["name"] for each in made["spec"]["containers"]] == ["one", "one", "two"]
    assert "gates" not in POD["spec"]


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/metadata/labels/a", "value": "2"},
        {"op": "remove", "path": "/metadata/labels/zzz"},
        {"op": "replace", "path": "/nothing/here", "value": 1},
        {"op": "add", "path": "/spec/containers/x", "value": 1},
        {"op": "grow", "path": "/spec"},
    ],
)
def test_a_json_patch_that_does_not_hold_is_refused(operation: dict) -> None:
    with pytest.raises(ApiError):
        json_patch(POD, [operation])
