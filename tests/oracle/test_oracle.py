"""The oracle reproduces the recorded cases and shares no code with the product."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.cases.compare import differences
from tests.cases.loader import Case, default_folder, files, read_file
from tests.cases.tables import report

from .run import permitted, run

HERE = Path(__file__).parent
EVERY = 8  # a sample of the cases; `python -m tests.oracle.run FILE...` runs them all

# cases that need DRA allocation, which the oracle does not have
BEYOND = {"allocate-volumes-devices 004: claim: 1 waiting, 0 placed, 1 group, 1 node"}


@pytest.mark.parametrize("path", files(default_folder()), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_oracle_decides_as_the_reference(path: Path) -> None:
    failures = []
    for case in read_file(path)[::EVERY]:
        for seed in (0, 1):
            outcome = run(case.data, case.tiers, seed)
            lines = differences(case.expect, outcome)
            if lines and case.name not in BEYOND:
                failures.append(report(case, outcome, lines))
    assert not failures, "\n\n".join(failures)


def case_with_a_tie() -> Case:
    """A pod and two equal empty nodes."""

    def node(name: str) -> dict[str, object]:
        amounts = {"cpu": "4", "memory": "4Gi", "pods": "110"}
        return {
            "kind": "Node",
            "metadata": {"name": name},
            "status": {"allocatable": amounts, "capacity": amounts},
        }

    pod = {
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "namespace": "team",
            "annotations": {"scheduling.k8s.io/group-name": "job"},
        },
        "spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Pending"},
    }
    group = {
        "kind": "PodGroup",
        "metadata": {"name": "job", "namespace": "team"},
        "spec": {"minMember": 1},
        "status": {"phase": "Inqueue"},
    }
    queue = {"kind": "Queue", "metadata": {"name": "default"}, "status": {"state": "Open"}}
    objects = [queue, node("a"), node("b"), group, pod]
    data = {"name": "a tie", "actions": ["allocate"], "objects": objects, "expect": {}}
    tiers = [
        {
            "plugins": [
                {"name": "gang", "enableJobReady": True},
                {"name": "nodeorder", "enableNodeOrder": True},
            ]
        }
    ]
    return Case("made", "a tie", data, tiers)


def test_a_tie_may_go_either_way_and_a_guide_settles_it() -> None:
    case = case_with_a_tie()

    either = {outcome.binds["team/p"] for outcome in permitted(case.data, case.tiers, seeds=10)}
    guided = run(case.data, case.tiers, seed=0, guide={"team/p": "b"})

    assert either == {"a", "b"}
    assert guided.binds == {"team/p": "b"}
    assert guided.ties == 1


def test_a_guide_cannot_force_a_node_that_is_not_best() -> None:
    case = case_with_a_tie()
    case.objects[2]["spec"] = {"unschedulable": True}
    tiers = [{"plugins": [*case.tiers[0]["plugins"], {"name": "predicates", "enablePredicate": True}]}]

    guided = run(case.data, tiers, seed=0, guide={"team/p": "b"})

    assert guided.binds == {"team/p": "a"}


def test_the_oracle_uses_the_standard_library_and_the_case_format_only() -> None:
    imported: set[str] = set()
    for path in HERE.rglob("*.py"):
        if path.name.startswith("test_"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module or "")
    foreign = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names}
    assert {name for name in foreign if not name.startswith(("tests.oracle", "tests.cases"))} == set()
