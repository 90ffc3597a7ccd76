"""Pods of the free tier run on spot nodes only: a filter as short as it gets.

    tiers:
    - plugins:
      - name: spot_only

Put this file into the directory of `--plugins-dir`; the file's name is the plugin's.
"""

from __future__ import annotations

from vcsched.framework.api import Fit, Node, Plugin, Pod, Session, Task


class SpotOnly(Plugin):
    name = "spot_only"

    # the filter reads this label, so pods that differ in it must not share an answer
    def shape_key(self, pod: Pod) -> str | None:
        return pod.metadata.labels.get("tier")

    def open(self, ssn: Session) -> None:
        ssn.predicate.add(self, self.fits, reads="node")

    def fits(self, task: Task, node: Node) -> Fit | None:
        if task.pod.metadata.labels.get("tier") == "free" and node.labels.get("pool") != "spot":
            return Fit.unresolvable("node(s) not in the spot pool, where the free tier runs")
        return None


New = SpotOnly
