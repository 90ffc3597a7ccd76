"""The best row, told from what rows that looked the same were worth, is the best when all rows are asked anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.framework.kept import new_state, operate
from tests.generators.effort import examples
from tests.harness import SessionWorld
from vcsched.framework.session import Session
from vcsched.framework.statement import Statement
from vcsched.model.status import EVICTABLE, PENDING

_number = st.integers(0, 50)
MOVES = st.lists(
    st.tuples(st.sampled_from(["allocate", "allocate", "pipeline", "evict", "undo"]), _number, _number), max_size=40
)
GANGS = ("plain", "tolerant", "large")


def crowd() -> SessionWorld:
    """Nodes that differ in what they refuse and not in their room, and pods of three shapes."""
    world = SessionWorld()
    world.nodes(3, cpu=2, memory="8Gi")
    world.nodes(3, prefix="t", cpu=2, memory="8Gi", taints=["dedicated=batch:NoSchedule"])
    for name in GANGS:
        tolerations = [] if name == "plain" else ["dedicated=batch:NoSchedule"]
        world.gang(name, pods=8, cpu=2 if name == "large" else 1, memory="1Gi", tolerations=tolerations)
    world.running("there", on=["n-0", "n-0", "n-1", "t-0"], cpu=1, memory="1Gi")
    return world


@examples(40)
@given(MOVES)
def test_what_is_remembered_of_like_rows_holds_for_a_row(moves: list[tuple[str, int, int]]) -> None:
    ssn = crowd().open()
    first = [next(iter(ssn.jobs[f"default/{name}"].tasks.values())) for name in GANGS]
    asks = [ssn.pipeline.ask(task) for task in first]
    for ask in asks:
        ssn.pipeline.choose(ask)
    statement = ssn.statement()
    for kind, one, other in moves:
        if kind == "undo":
            statement.rollback(max(0, len(statement.ops) - one % 3))
        else:
            move(ssn, kind, one, other, statement)
        for ask in asks:
            fresh = new_state(ssn.pipeline, ssn, ask)
            values = fresh.tops.values
            choice = ssn.pipeline.choose(ask)
            if fresh.tops.count:
                assert choice is not None
                assert choice.idle
                assert choice.row in np.flatnonzero(values == values.max())
            else:
                assert choice is None or not choice.idle
    ssn.close()


def move(ssn: Session, kind: str, one: int, other: int, statement: Statement) -> None:
    """One operation, if there is a task for it."""
    wanted = EVICTABLE if kind == "evict" else {PENDING}
    tasks = [task for task in ssn.world.tasks.values() if task.status in wanted]
    nodes = [node for node in ssn.world.node_at if node is not None]
    if not tasks:
        return
    operate(statement, kind, tasks[one % len(tasks)], nodes[other % len(nodes)])
