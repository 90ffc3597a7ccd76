"""Whether what is kept about shapes is what asking anew would give, bit for bit (DESIGN 1.4, 1.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from vcsched.columns.best import NEVER
from vcsched.columns.looks import Looks
from vcsched.framework import nodeside
from vcsched.framework.pipeline import Pipeline
from vcsched.framework.plugin import Ask, Node, OneNode, OneVerdict
from vcsched.framework.points import Points
from vcsched.framework.shapestate import ShapeState
from vcsched.framework.statement import Statement
from vcsched.model.task import Task


def new_state(pipeline: Pipeline, points: Points, ask: Ask) -> ShapeState:
    """The state of a shape, made from nothing that is kept, and of which nothing is kept."""
    picture = pipeline.picture
    shared, looks = nodeside._kept.pop(picture, None), picture.looks
    picture.looks = Looks(picture.nodes, picture.room_log)
    scores = [(s, False) for s in points.node_order.scores] + [(s, True) for s in points.batch_node_order.scores]
    state = ShapeState(pipeline.picture, ask.shape, points.predicate.filters, scores)
    state.refresh(ask)
    picture.looks = looks
    del nodeside._kept[picture]
    if shared is not None:
        nodeside._kept[picture] = shared
    return state


def assert_kept_is_fresh(pipeline: Pipeline, points: Points, tasks: list[Task]) -> None:
    """Compare the kept state of each of the tasks' shapes with a new one."""
    seen = set()
    for task in tasks:
        ask = pipeline.ask(task)
        if ask.shape in seen:
            continue
        seen.add(ask.shape)
        fresh = new_state(pipeline, points, ask)
        _assert_picked(ask, pipeline, fresh)
        kept = pipeline.state(ask)
        _assert_equal(ask, kept, fresh)
        _assert_told_from_columns(fresh)
        _assert_floats_are_arrays(ask, fresh)


def _assert_picked(ask: Ask, pipeline: Pipeline, fresh: ShapeState) -> None:
    """What is picked while columns lag behind is one of the best rows."""
    kept = pipeline._states.get(ask.shape)
    row = kept.pick(ask, lambda count: count // 2) if kept is not None else -1
    if kept is None or row < 0:
        return
    assert row in _best_rows(fresh)
    _same("values while columns lag", kept.tops.values, fresh.tops.values)


def _best_rows(fresh: ShapeState) -> list[int]:
    values = fresh.tops.values
    rows: list[int] = np.flatnonzero((values == values.max(initial=NEVER)) & (values != NEVER)).tolist()
    return rows


def _assert_equal(ask: Ask, kept: ShapeState, fresh: ShapeState) -> None:
    assert [c.filter for c in kept.filters] == [c.filter for c in fresh.filters]
    for column, new in zip(kept.filters, fresh.filters, strict=True):
        name = f"filter {column.filter.plugin} {column.filter.vector or column.filter.scalar}"
        _same(name, column.codes, new.codes)
        assert _texts(column) == _texts(new), name
    for score, again in zip(kept.scores, fresh.scores, strict=True):
        name = f"score {score.score.plugin} {score.score.vector or score.score.scalar}"
        _same(name, score.values, again.values)
        assert score.constant == again.constant, name
    _same("rows with room now", kept.idle_ok, fresh.idle_ok)
    _same("rows with room soon", kept.future_ok, fresh.future_ok)
    if fresh.live_filters:
        _same("rows refused by live filters", kept.live_bad, fresh.live_bad)
    _same("best row now", kept.tops.values, fresh.tops.values)
    assert kept.tops.count == fresh.tops.count
    if not kept.tops.best.stale:
        assert sorted(kept.tops.best.ties) == _best_rows(fresh)
    kept.tops.best.pick(kept.tops.values, lambda count: count - 1)  # from here on single rows are moved
    assert kept.needs_candidates == fresh.needs_candidates
    for room in (True, False):
        rows = np.flatnonzero(fresh.passing(room=room))
        _same("passing rows", np.flatnonzero(kept.passing(room=room)), rows)
        if len(rows):
            _same("totals of passing rows", kept.totals(ask, rows), fresh.totals(ask, rows))


def _assert_told_from_columns(fresh: ShapeState) -> None:
    """What is told by look is what the columns say by row."""
    rows = fresh.idle_ok & fresh.picture.nodes.alive[: fresh.n]
    for column in fresh.filters:
        if column.filter.reads in ("node", "room"):
            rows &= column.codes == 0
    values = fresh.tops.values
    assert (values[~(rows & fresh.future_ok)] == NEVER).all()
    if not fresh.needs_candidates:
        order = sum((score.values for score in fresh.scores if not score.batch), np.zeros(fresh.n))
        batch = np.zeros(fresh.n)
        for score in fresh.scores:
            if score.batch:
                batch = batch + (score.values if score.score.normalise is None else score.constant)
        _same("totals by row", values[values != NEVER], (order + batch)[values != NEVER])


def _assert_floats_are_arrays(ask: Ask, fresh: ShapeState) -> None:
    """Each formula that runs in both number worlds gives the same for every row."""
    for row in range(fresh.n):
        if not fresh.picture.nodes.alive[row]:
            continue
        one = OneNode(fresh.picture, row)
        for column in fresh.room.filters:
            verdict = OneVerdict()
            column.vector(ask, one, verdict)
            assert verdict.code == column.codes[row], column.filter
            if verdict.code:
                assert verdict.reason == column.texts[column.reasons[row] - 1]
        for score in fresh.room.scores:
            value = np.float64(score.vector(ask, one))
            assert value.tobytes() == score.values[row].tobytes(), (score.score, row, value, score.values[row])


def _texts(column: Any) -> list[str]:
    return [column.texts[reason - 1] if code else "" for code, reason in zip(column.codes, column.reasons, strict=True)]


def _same(what: str, kept: Any, fresh: Any) -> None:
    assert kept.dtype == fresh.dtype, what
    assert kept.tobytes() == fresh.tobytes(), f"{what}: kept {kept}, fresh {fresh}"


def operate(statement: Statement, kind: str, task: Task, node: Node) -> None:
    """One operation of a statement, by its name."""
    if kind == "evict":
        statement.evict(task, "preempt")
    elif kind == "allocate":
        statement.allocate(task, node)
    else:
        statement.pipeline(task, node)
