"""Scalar functions lifted to vectors: a loop over the rows in question.

Always right, and about 1 ms for 5,000 nodes; how long the answer is kept is what the function's `reads`
says (design-notes §3 rule a).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vcsched.framework.plugin import Ask, Nodes, OneNode, OneVerdict, Verdict, reason_number
from vcsched.model.status import ERROR, Fit


def lifted_filter(function: Callable[..., Any] | None) -> Callable[[Ask, Nodes, Any], None]:
    """`(task, node) -> Fit | None` as a vector filter."""
    assert function is not None, "a filter needs a scalar or a vector function"

    def vector(ask: Ask, nodes: Nodes, verdict: Any) -> None:
        for row, node in enumerate(nodes.objects()):
            if node is None:
                continue
            answer = function(ask.task, node)
            if answer is None:
                continue
            fit = answer if isinstance(answer, Fit) else Fit(ERROR, str(answer))
            if isinstance(nodes, OneNode):
                one: OneVerdict = verdict
                one.fail(True, fit.reason, fit.code)
            else:
                many: Verdict = verdict
                many.codes[row] = fit.code
                many.reasons[row] = reason_number(many.texts, fit.reason)

    return vector


def lifted_score(function: Callable[..., Any] | None, batch: bool) -> Callable[[Ask, Nodes], Any]:
    """`(task, node) -> float`, or for batch scores `(task, nodes) -> {name: float}`, as a vector score."""
    assert function is not None, "a score needs a scalar or a vector function"

    def one_by_one(ask: Ask, nodes: Nodes) -> Any:
        values = [0.0 if node is None else float(function(ask.task, node)) for node in nodes.objects()]
        return values[0] if isinstance(nodes, OneNode) else np.array(values)

    def all_at_once(ask: Ask, nodes: Nodes) -> Any:
        present = nodes.objects()
        given = function(ask.task, [node for node in present if node is not None]) or {}
        values = [0.0 if node is None else float(given.get(node.name, 0.0)) for node in present]
        return values[0] if isinstance(nodes, OneNode) else np.array(values)

    return all_at_once if batch else one_by_one
