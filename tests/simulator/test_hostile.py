"""Bodies nobody should send: each gets one clear answer, and the server goes on."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.conftest import Http
from vcsched.simulator.cluster import ApiServer
from vcsched.simulator.errors import ApiError
from vcsched.simulator.proto import decode

PODS = "/api/v1/namespaces/default/pods"
GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"

leaf = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x", "n-0"])
anything = st.recursive(
    leaf, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
)
field = st.sampled_from(["labels", "annotations", "ownerReferences", "finalizers", "uid", "namespace"])
part = st.sampled_from(["containers", "nodeName", "schedulingGates", "priorityClassName", "subGroupPolicy", "queue"])
body = st.fixed_dictionaries(
    {},
    optional={
        "metadata": anything
        | st.dictionaries(field, anything, max_size=3).map(lambda made: made | {"generateName": "x-"}),
        "spec": anything | st.dictionaries(part, anything, max_size=3),
        "status": anything,
    },
)


@pytest.fixture(scope="module")
def hostile() -> Iterator[Http]:
    with ApiServer() as server:
        yield Http(server.url)


@settings(max_examples=150, deadline=None)
@given(path=st.sampled_from([PODS, GROUPS]), sent=body | anything)
def test_any_body_is_answered_by_an_object_or_a_status(hostile: Http, path: str, sent: Any) -> None:
    code, answer = hostile("POST", path, sent)
    assert answer["kind"] == ("Status" if code >= 300 else "Pod" if path == PODS else "PodGroup")
    assert hostile.get(path)["items"] is not None
    assert hostile.get(path, Accept="application/json;as=Table;v=v1;g=meta.k8s.io")["kind"] == "Table"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"containers": []}, "spec.containers: Required value"),
        ({"containers": "all"}, "spec.containers is 'all'; it must be a list of objects"),
        ({"containers": [{"name": "a"}], "nodeName": 7}, "spec.nodeName is 7; it must be a text"),
    ],
)
def test_a_misshapen_pod_is_refused_by_field_and_value(http: Http, spec: dict[str, Any], message: str) -> None:
    code, answer = http("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})
    assert code in (400, 422)
    assert message in answer["message"]


def test_a_pod_with_two_megabytes_of_labels_is_taken(http: Http) -> None:
    labels = {f"label-{number}": "x" * 60 for number in range(25_000)}
    code, answer = http("POST", PODS, {"metadata": {"name": "p", "labels": labels}, "spec": {"containers": [{}]}})
    assert code == 201
    assert len(answer["metadata"]["labels"]) == 25_000


@pytest.mark.parametrize(
    "sent", [b"", b"k8s\x00", b"k8s\x00\x0a\xff", b"k8s\x00\x0a\x06\x12\x04Boat"], ids=["none", "empty", "cut", "kind"]
)
def test_protobuf_that_is_not_understood_is_refused(sent: bytes) -> None:
    with pytest.raises(ApiError):
        decode(sent)
