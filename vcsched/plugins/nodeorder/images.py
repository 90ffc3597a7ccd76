"""ImageLocality: nodes that have the pod's images already (spec 06 §3.8).

How much an image counts depends on how many nodes have it, so one node's news moves the scores of all.
Which nodes have an image is kept up to date node by node, when a session opens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vcsched.framework.plugin import shared_by
from vcsched.model.images import locality_score, spread_size, wanted_images

if TYPE_CHECKING:
    from vcsched.columns.table import FloatArray
    from vcsched.framework.plugin import Ask, Form, Nodes, Plugin
    from vcsched.framework.session import Session
    from vcsched.kube.objects import ContainerImage

LIMIT = 1000
"""If more nodes than this have changed, all are read anew."""


def images_of(form: Form) -> tuple[str, ...]:
    """The part of a form that this score reads."""
    return wanted_images(form.spec)


class ImageLocality:
    """`having` holds the size of an image on each node that has it: name -> row -> bytes."""

    def __init__(self, weight: int) -> None:
        self.weight = weight
        self.having: dict[str, dict[int, int]] = {}
        self._listed: dict[int, tuple[ContainerImage, ...]] = {}
        self._nodes = 0
        self._seen = (-1, -1)  # rows were numbered so, and read up to here
        self._version = 0

    def register(self, plugin: Plugin, ssn: Session) -> None:
        self._update(ssn)
        ssn.node_order.add(plugin, vector=self.score, reads="node", version=self.version)

    def version(self, ask: Ask) -> int:
        """Moves when the scores of all nodes may have."""
        return self._version

    @shared_by(images_of)
    def score(self, ask: Ask, nodes: Nodes) -> Any:
        """float64[k]: 0 to 100, times the weight."""
        wanted: tuple[str, ...] = ask.form.compiled(images_of)
        sizes: dict[int, list[int]] = {}
        for name in wanted:
            having = self.having.get(name, {})
            for row, size in having.items():
                sizes.setdefault(row, []).append(spread_size(size, len(having), self._nodes))
        scores: FloatArray = np.zeros(nodes.table.n)
        for row, present in sizes.items():
            scores[row] = locality_score(present, len(wanted)) * self.weight
        return scores[nodes.rows]

    def _update(self, ssn: Session) -> None:
        """Read the nodes that have changed since the last session."""
        world = ssn.world
        epoch, position = self._seen
        changed = world.node_log.since(position, LIMIT) if epoch == world.epoch else None
        self._seen = world.epoch, world.node_log.position
        if changed is None:
            self.having, self._listed = {}, {}
            changed = list(range(len(world.node_at)))
            self._version += 1
        for row in changed:
            node = world.node_at[row]
            self._read(row, node.obj.status.images if node is not None else ())
        if len(ssn.nodes) != self._nodes:
            self._nodes = len(ssn.nodes)
            self._version += 1

    def _read(self, row: int, images: tuple[ContainerImage, ...]) -> None:
        before = self._listed.get(row, ())
        if images == before:
            return
        self._version += 1
        self._listed[row] = images
        for image in before:
            for name in image.names:
                having = self.having.get(name, {})
                having.pop(row, None)
                if not having:
                    self.having.pop(name, None)
        for image in images:
            for name in image.names:
                self.having.setdefault(name, {})[row] = image.size_bytes
