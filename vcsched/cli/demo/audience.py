"""What anybody who watches the API sees of the demo: pods, their nodes, and what PodGroups say.

It follows pods and PodGroups with the reflectors of the wire, never the scheduler itself.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass

from vcsched.cli.demo.story import SET, Set, Story
from vcsched.kube.keys import GROUP_NAME
from vcsched.kube.link import Deleted, Inbound, Upsert
from vcsched.kube.objects import Pod, PodGroup, key_of

_DASH = " — "


@dataclass(frozen=True, slots=True)
class Row:
    """A set as it stands: `whole` gangs are placed, `broken` ones in part, which must never last."""

    name: str
    queue: str
    phase: str
    bound: int
    minimum: int
    pods: int
    whole: int
    broken: int
    reason: str
    shows: str
    good: bool


class Audience:
    """`take` is given to reflectors of pods and PodGroups."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._pods: dict[str, Pod] = {}
        self._groups: dict[str, PodGroup] = {}
        self.binds: list[float] = []  # monotonic time of each bind, as seen

    def take(self, message: Inbound) -> None:
        """An object came, changed or went."""
        if isinstance(message, Deleted):
            (self._pods if message.kind is Pod else self._groups).pop(message.key, None)
        elif isinstance(message, Upsert):
            obj = message.obj
            if isinstance(obj, Pod):
                self._take_pod(obj)
            elif isinstance(obj, PodGroup):
                self._groups[key_of(obj)] = obj

    def _take_pod(self, pod: Pod) -> None:
        before = self._pods.get(key_of(pod))
        if pod.spec.node_name and (before is None or not before.spec.node_name):
            self.binds.append(time.monotonic())
        self._pods[key_of(pod)] = pod

    @property
    def submitted(self) -> int:
        """How many pods there are."""
        return len(self._pods)

    def rate(self) -> float:
        """Binds in the best second, per second."""
        times, best, first = self.binds, 0, 0
        for last, moment in enumerate(times):
            while moment - times[first] > 1.0:
                first += 1
            best = max(best, last - first + 1)
        return float(best)

    def rows(self) -> list[Row]:
        """Every set of the story."""
        members: dict[str, dict[str, list[Pod]]] = defaultdict(lambda: defaultdict(list))
        for pod in self._pods.values():
            gang = pod.metadata.annotations.get(GROUP_NAME) or pod.metadata.name
            members[pod.metadata.labels.get(SET, "")][gang].append(pod)
        return [self._row(each, members[each.name]) for each in self._story.sets.values()]

    def _row(self, each: Set, gangs: dict[str, list[Pod]]) -> Row:
        bound = {gang: sum(bool(pod.spec.node_name) for pod in pods) for gang, pods in gangs.items()}
        whole = sum(count == each.size for count in bound.values())
        broken = sum(0 < count < each.size for count in bound.values())
        groups = [group for group in self._groups.values() if group.metadata.name in gangs]
        phases = [group.status.phase or "Pending" for group in groups] or [
            pod.status.phase for pods in gangs.values() for pod in pods
        ]
        return Row(
            name=each.name,
            queue=each.queue,
            phase=_counted(phases),
            bound=sum(bound.values()),
            minimum=each.pods,
            pods=sum(map(len, gangs.values())),
            whole=whole,
            broken=broken,
            reason=_reason(groups),
            shows=each.shows,
            good=each.least <= whole <= each.most and not broken,
        )


def _counted(phases: list[str]) -> str:
    """`Running`, or `12 Running, 6 Pending`."""
    counts = Counter(phases)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} {phase}" for phase, count in counts.most_common())


def _reason(groups: list[PodGroup]) -> str:
    """Why the first of these gangs waits, in our sentence."""
    for group in groups:
        if group.status.phase == "Running":
            continue
        for condition in group.status.conditions:
            if condition.type == "Unschedulable" and condition.status == "True":
                return condition.message.rpartition(_DASH)[2]
    return ""
