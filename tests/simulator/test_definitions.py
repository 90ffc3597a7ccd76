"""What the simulator knows of PodGroup and Queue is what `deploy/crds` says."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from vcsched.simulator import admission, seed
from vcsched.simulator.resources import BY_KIND

CRDS = sorted((Path(__file__).parents[2] / "deploy" / "crds").glob("*.yaml"))
FIELDS = ("group", "scope")


def published(kind: str) -> dict[str, Any]:
    documents = (yaml.safe_load(file.read_text()) for file in CRDS)
    return next(each for each in documents if each["spec"]["names"]["kind"] == kind)


def schema_defaults(schema: dict[str, Any], given: Any) -> Any:
    """The value with the schema's defaults filled in, as a real API server does."""
    if schema.get("type") == "object" and isinstance(given, dict):
        filled = dict(given)
        for name, field in schema.get("properties", {}).items():
            if name not in filled and "default" in field:
                filled[name] = field["default"]
            if name in filled:
                filled[name] = schema_defaults(field, filled[name])
        return filled
    if schema.get("type") == "array" and isinstance(given, list):
        return [schema_defaults(schema["items"], each) for each in given]
    return given


@pytest.mark.parametrize("kind", ["PodGroup", "Queue"])
def test_names_columns_and_subresources_agree(kind: str) -> None:
    theirs = published(kind)["spec"]
    ours = next(obj for obj in seed.objects() if obj.get("spec", {}).get("names", {}).get("kind") == kind)["spec"]
    assert {key: ours[key] for key in (*FIELDS, "names")} == {key: theirs[key] for key in (*FIELDS, "names")}
    mine, published_version = ours["versions"][0], theirs["versions"][0]
    for key in ("name", "additionalPrinterColumns", "subresources"):
        assert mine[key] == published_version[key]


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("Queue", {}),
        ("Queue", {"weight": 3, "dequeueStrategy": "fifo"}),
        ("PodGroup", {"minMember": 1}),
        ("PodGroup", {"networkTopology": {}, "subGroupPolicy": [{"name": "a", "networkTopology": {}}]}),
    ],
)
def test_defaults_agree(kind: str, spec: dict[str, Any]) -> None:
    schema = published(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    theirs = schema_defaults(schema, {"metadata": {}, "spec": spec})
    ours = {"metadata": {}, "spec": yaml.safe_load(yaml.safe_dump(spec))}
    admission.defaults(BY_KIND["scheduling.volcano.sh/v1beta1", kind], ours)
    assert ours == theirs
