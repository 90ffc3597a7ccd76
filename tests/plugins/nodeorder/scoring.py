"""Scores asked directly: a picture filled by hand, one request, and both number worlds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vcsched.cache.picture import Picture
from vcsched.columns.table import FloatArray
from vcsched.framework.plugin import Ask, Nodes, OneNode
from vcsched.kube.objects import PodSpec
from vcsched.model.form import Form, Shape
from vcsched.model.task import Request

Row = dict[str, dict[str, float]]
"""Column of the node table -> resource name -> amount."""


def picture_of(rows: list[Row]) -> Picture:
    """Nodes with these amounts; `view_nonzero` holds what the scorers take pods to use."""
    picture = Picture()
    for row in rows:
        number = picture.nodes.new_row()
        for amounts in row.values():
            for name in amounts:
                picture.space.column(name)
        picture.nodes.alive[number] = True
        for column, amounts in row.items():
            for name, amount in amounts.items():
                if column == "view_nonzero":
                    getattr(picture.nodes, f"view_nonzero_{name}")[number] = amount
                else:
                    getattr(picture.nodes, column)[picture.space.index[name], number] = amount
    return picture


def ask_for(asked: dict[str, float], nonzero: tuple[float, float] = (0.0, 0.0)) -> Ask:
    """A pod that asks for these amounts."""
    request = Request(items=(), by_name=asked, best_effort=False, nonzero_cpu=nonzero[0], nonzero_memory=nonzero[1])
    form = Form("default", request, PodSpec(), ())
    return Ask(Shape(form, frozenset()), None, None, None)  # type: ignore[arg-type]


def on_arrays(picture: Picture, score: Callable[[Ask, Nodes], Any], ask: Ask) -> FloatArray:
    """float64[n]: the scores of all nodes in one pass."""
    n = picture.nodes.n
    return np.broadcast_to(np.asarray(score(ask, Nodes(picture, slice(0, n), n)), dtype=np.float64), n)


def on_floats(picture: Picture, score: Callable[[Ask, Nodes], Any], ask: Ask) -> list[float]:
    """The scores of all nodes, one at a time, as plain numbers."""
    values = [score(ask, OneNode(picture, row)) for row in range(picture.nodes.n)]
    assert all(type(value) in (float, int) for value in values)
    return [float(value) for value in values]
