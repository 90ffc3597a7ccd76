"""Label and field selectors."""

import pytest

from vcsched.simulator.errors import ApiError
from vcsched.simulator.selectors import matches, selector

POD = {
    "metadata": {"name": "p", "labels": {"app": "web", "tier": "front"}},
    "spec": {"nodeName": "n-0", "hostNetwork": True},
}


@pytest.mark.parametrize(
    ("labels", "fields", "passes"),
    [
        ("app=web", "", True),
        ("app==web,tier=back", "", False),
        ("app!=web", "", False),
        ("other!=web", "", True),
        ("app in (web, db),tier", "", True),
        ("app notin (web)", "", False),
        ("!app", "", False),
        ("!gpu", "", True),
        ("", "spec.nodeName=n-0", True),
        ("", "spec.nodeName!=n-0", False),
        ("", "spec.nodeName=,metadata.name=p", False),
        ("", "status.phase=", True),
        ("", "spec.hostNetwork=true", True),
        ("app=web", "metadata.name=q", False),
    ],
)
def test_a_selector_passes_what_it_names(labels: str, fields: str, passes: bool) -> None:
    test = selector(labels, fields)
    assert test is not None
    assert test(POD) is passes


def test_no_selector_is_no_test() -> None:
    assert selector("", "") is None


@pytest.mark.parametrize(("labels", "fields"), [("a b", ""), ("", "spec.nodeName")])
def test_what_cannot_be_read_is_refused(labels: str, fields: str) -> None:
    with pytest.raises(ApiError, match="selector"):
        selector(labels, fields)


@pytest.mark.parametrize(
    ("chosen", "passes"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "db"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]}, True),
        ({"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}, True),
    ],
)
def test_label_selector_objects(chosen: dict | None, passes: bool) -> None:
    assert matches(chosen, POD["metadata"]["labels"]) is passes
