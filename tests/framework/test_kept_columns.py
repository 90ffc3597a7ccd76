"""Columns kept about shapes equal freshly asked ones, bit for bit, whatever was placed or happened meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.framework.kept import assert_kept_is_fresh, operate
from tests.generators.effort import examples
from tests.generators.faults import no_faults
from tests.generators.story import Event, Story, histories, stories
from vcsched.cache.verify import verify
from vcsched.framework.plugin import Ask, Fit, Node, Nodes, Plugin
from vcsched.framework.points import Opening
from vcsched.framework.session import Session
from vcsched.framework.statement import Statement
from vcsched.model.status import EVICTABLE, PENDING
from vcsched.model.task import Task

CONF = """
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
    arguments:
      mostrequested.weight: 3
  - name: binpack
    arguments:
      binpack.resources: nvidia.com/gpu
"""


class Own(Plugin):
    """Scalar, normalised and never kept functions beside the built-in ones."""

    name = "own"

    def open(self, ssn: Session) -> None:
        ssn.predicate.add(self, self.fits, reads="node")
        ssn.predicate.add(self, self.fits_live)
        ssn.node_order.add(self, self.likes, reads="room")
        ssn.batch_node_order.add(self, vector=self.pods, reads="room", normalise=self.stretch)
        ssn.batch_node_order.add(self, vector=self.zones, reads="node", normalise=self.stretch)

    def fits(self, task: Task, node: Node) -> Fit | None:
        refused = node.labels.get("pool") == "gpu" and task.best_effort
        return Fit.unresolvable("no idlers on GPU nodes") if refused else None

    def fits_live(self, task: Task, node: Node) -> Fit | None:
        return Fit.unschedulable("five is enough") if len(node.tasks) >= 5 else None

    def likes(self, task: Task, node: Node) -> float:
        return float(len(node.tasks) % 3)

    def pods(self, ask: Ask, nodes: Nodes) -> Any:
        return nodes.view_pods * 1.0

    def zones(self, ask: Ask, nodes: Nodes) -> Any:
        return nodes.label("topology.kubernetes.io/zone").map(lambda zone: float(zone == "a"))

    def stretch(self, ask: Ask, raw: Any) -> Any:
        most = raw.max(initial=0.0)
        return np.trunc(raw * 100.0 / most) if most else np.zeros(len(raw))


def new_story(*, own: bool) -> Story:
    """With the plugin above, every choice compares candidates; without it, most take the kept totals."""
    story = Story(CONF)
    scheduler = story.world.scheduler
    if own:
        scheduler.plugins.append((Opening("own", 2, lambda switch: True), Own(scheduler.plugins[0][1].args)))
    return story


def shapes_of_interest(story: Story) -> list[Task]:
    """Tasks of every job; running ones too, as their shapes were asked when they were pending."""
    return [task for task in story.cache.picture.tasks.values() if task.job is not None]


@examples(16)
@given(stories, st.booleans())
def test_kept_columns_stay_right_over_events_and_sessions(events: list[Event], own: bool) -> None:
    with no_faults():
        story = new_story(own=own)
        session = story.world.open()
        session.close()
        for event in events:
            story.tell(event)
            points = story.world.scheduler.pipeline._points
            assert_kept_is_fresh(story.world.scheduler.pipeline, points, shapes_of_interest(story))


_number = st.integers(0, 50)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("allocate"), _number, _number),
        st.tuples(st.just("allocate"), _number, _number),
        st.tuples(st.just("pipeline"), _number, _number),
        st.tuples(st.just("evict"), _number, st.just(0)),
        st.tuples(st.just("rollback"), _number, _number),
    ),
    min_size=1,
    max_size=25,
)


@examples(24)
@given(histories, OPERATIONS, st.booleans(), st.booleans())
def test_kept_columns_stay_right_after_every_placement_and_its_undoing(
    events: list[Event], operations: list[Event], commits: bool, own: bool
) -> None:
    with no_faults():
        story = new_story(own=own)
        for index in range(3):
            story.tell(("node", index, index))
        story.tell_all(events)
        session = story.world.open()
        tasks = shapes_of_interest(story)
        statement = session.statement()
        for operation in operations:
            assert_kept_is_fresh(session.pipeline, session, tasks)
            do(session, statement, operation, tasks)
        assert_kept_is_fresh(session.pipeline, session, tasks)
        if commits:
            statement.commit()
            assert_kept_is_fresh(session.pipeline, session, tasks)
        session.close()
        assert_kept_is_fresh(session.pipeline, session, tasks)
        verify(story.cache)


def do(session: Session, statement: Statement, operation: Event, tasks: list[Task]) -> None:
    """One operation, if there is a task for it."""
    kind, first, second = operation
    nodes = [node for node in session.world.node_at if node is not None]
    if kind == "rollback":
        statement.rollback(first % (len(statement.ops) + 1))
        return
    statuses = EVICTABLE if kind == "evict" else {PENDING}
    able = [task for task in tasks if task.status in statuses and (kind != "evict" or task.node is not None)]
    if not able or not nodes:
        return
    operate(statement, kind, able[first % len(able)], nodes[second % len(nodes)])
