"""Several sessions in a row on a cluster that answers: binds run, victims leave after a while and come back.

    world = LiveWorld(conf, leave_after=2)
    world.nodes(1, cpu=2)
    …
    world.play(5)
    assert world.placed("urgent") == 2

After each session every write takes effect and is answered, as the API server, the kubelets and the
controllers of the pods would do it. A victim leaves `leave_after` sessions after its eviction (None: it ignores
it; not at all, if its name is in `refused`) and, with `come_back`, its controller makes a pod of the same name and
another uid then.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.harness import SessionWorld
from vcsched.cache.evictions import Evicted
from vcsched.framework.scheduler import Report
from vcsched.kube.link import Bind, Evict, Outbound, PodGroupStatus, PodStatus, QueueStatus, Wrote
from vcsched.model.task import Task

Obj = dict[str, Any]

REFUSAL = 'admission webhook "keeper" denied the request'


class Round(NamedTuple):
    """What one session did."""

    binds: dict[str, str]  # pod key -> node
    evictions: list[Evicted]

    @property
    def is_quiet(self) -> bool:
        return not self.binds and not self.evictions


class LiveWorld(SessionWorld):
    """`rounds` are the sessions played so far; `leave_after` and `come_back` may be changed at any time."""

    def __init__(self, conf: str, *, leave_after: int | None = 1, come_back: bool = True, seed: int = 0) -> None:
        super().__init__(conf, seed=seed)
        self.leave_after = leave_after
        self.come_back = come_back
        self.refused: set[str] = set()  # names of pods that the API server does not delete
        self.rounds: list[Round] = []
        self.held_at: dict[str, dict[str, float]] = {}  # pod uid -> what its queue was charged without it
        self._leaving: dict[str, int] = {}  # uid -> sessions since the eviction
        self._applied = 0
        self._versions = 0
        self._evict = self.cache.evictor.evict
        self.cache.evictor.evict = self._note_and_evict  # type: ignore[method-assign]

    def _note_and_evict(self, task: Task, reason: str, beneficiary: str = "") -> None:
        if task.job is not None and task.job.queue is not None:
            self.held_at[task.uid] = self.cache.picture.queue_table.amounts_of("charged", task.job.queue.row)
        self._evict(task, reason, beneficiary)

    # -- playing

    def play(self, sessions: int = 1) -> None:
        """Run sessions; after each its writes take effect, and pods leave."""
        for _ in range(sessions):
            self.now += 1.0
            self.session()
            self.answer()

    def session(self, times: int = 1) -> Report:
        """As of `SessionWorld`; notes what was done."""
        evictor = self.cache.evictor
        for _ in range(times):
            before, known = len(self.writes), len(evictor.ledger.latest)
            report = super().session()
            binds = {f"{m.namespace}/{m.name}": m.node for m in self.writes[before:] if isinstance(m, Bind)}
            self.rounds.append(Round(binds, list(evictor.ledger.latest)[known:]))
        return report

    def play_until_quiet(self, limit: int = 60, *, check: Callable[[], None] = lambda: None) -> int:
        """Play until some sessions do nothing more and nobody leaves; `check` runs after each. How many it took."""
        quiet = 0
        for number in range(limit):
            self.play()
            check()
            quiet = quiet + 1 if self.rounds[-1].is_quiet and not self._still_leaving() else 0
            if quiet == 3:
                return number + 1
        raise AssertionError(f"not quiet after {limit} sessions: {self.history()}")

    def history(self) -> str:
        """What was bound and evicted, session by session."""
        lines = []
        for number, done in enumerate(self.rounds, 1):
            gone = [f"{e.pod} ({e.reason} for {e.beneficiary})" for e in done.evictions]
            if not done.is_quiet:
                lines.append(f"{number}: bound {done.binds}; evicted {', '.join(gone) or 'nobody'}")
        return "\n" + "\n".join(lines)

    # -- what became of it

    def evictions(self) -> list[Evicted]:
        """All evictions so far."""
        return [each for done in self.rounds for each in done.evictions]

    def victims(self) -> list[str]:
        """Names of the pods evicted so far, in order."""
        return [each.pod.partition("/")[2] for each in self.evictions()]

    def placed(self, gang: str) -> int:
        """How many pods of a gang have a node and are not leaving."""
        return sum(1 for pod in self._pods_of(gang) if pod["spec"].get("nodeName") and not _leaves(pod))

    def nominated(self, pod: str) -> str:
        """The node that a pod was promised, as its status shows."""
        return str(self.get("Pod", pod)["status"].get("nominatedNodeName", ""))

    def _pods_of(self, gang: str) -> list[Obj]:
        return [p for p in self.of("Pod") if p["metadata"]["annotations"].get("scheduling.k8s.io/group-name") == gang]

    # -- the cluster's part

    def answer(self) -> None:
        """The writes made since the last time take effect and are answered; time passes for who is leaving."""
        answers = []
        for write in self.writes[self._applied :]:
            number = getattr(write, "no", 0)
            if not number:
                continue
            if isinstance(write, Evict) and write.name in self.refused:
                self._set_status(write)
                answers.append(Wrote(number, False, 403, REFUSAL))
            else:
                fits = self._effect(write)
                answers.append(Wrote(number, fits, 200 if fits else 404, "" if fits else "gone"))
        self._applied = len(self.writes)
        for answer in answers:
            self.cache.link.put(answer)
        self.cache.drain()
        self._let_go()

    def _set_status(self, write: Evict) -> None:
        """Conditions come first, and stay when the deletion is refused."""
        pod = self.get("Pod", write.name, write.namespace)
        _set_conditions(pod["status"], write)
        self._show(pod)

    def finish(self, pod: str, *, failed: bool = False) -> None:
        """The pod's containers end by themselves."""
        obj = self.get("Pod", pod)
        obj["status"] = {**obj["status"], "phase": "Failed" if failed else "Succeeded"}
        self._show(obj)

    def vanish(self, pod: str) -> None:
        """The pod is gone at once; nobody makes it anew."""
        self.delete(self.remove("Pod", pod))
        self._sent = len(self)

    def _still_leaving(self) -> bool:
        return self.leave_after is not None and bool(self._leaving)

    def _let_go(self) -> None:
        for pod in [pod for pod in self.of("Pod") if pod["metadata"]["uid"] in self._leaving]:
            uid = pod["metadata"]["uid"]
            self._leaving[uid] += 1
            if self.leave_after is not None and self._leaving[uid] > self.leave_after:
                del self._leaving[uid]
                self._leave(pod)

    def _leave(self, pod: Obj) -> None:
        self.vanish(pod["metadata"]["name"])
        if not self.come_back:
            return
        fresh = copy.deepcopy(pod)
        meta = fresh["metadata"]
        meta["uid"] += "'"
        for field in ("deletionTimestamp", "resourceVersion"):
            meta.pop(field, None)
        fresh["spec"].pop("nodeName", None)
        fresh["status"] = {"phase": "Pending"}
        self.add(fresh)

    def _effect(self, write: Outbound) -> bool:
        """What a write does; False if there is nothing to do it to."""
        if isinstance(write, QueueStatus):
            kind, namespace = "Queue", None
        else:
            kind, namespace = "PodGroup" if isinstance(write, PodGroupStatus) else "Pod", write.namespace
        try:
            obj = self.get(kind, write.name, namespace)
        except KeyError:
            return False
        if not isinstance(write, QueueStatus) and obj["metadata"]["uid"] != write.uid:
            return False
        status = obj.setdefault("status", {})
        if isinstance(write, Bind):
            obj["spec"]["nodeName"] = write.node
            obj["status"] = {**status, "phase": "Running"}
        elif isinstance(write, Evict):
            obj["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"
            _set_conditions(status, write)
            self._leaving[write.uid] = 0
        elif isinstance(write, PodStatus):
            _set_conditions(status, write)
            if write.nominated is not None:
                status["nominatedNodeName"] = write.nominated
        elif isinstance(write, PodGroupStatus):
            obj["status"] = write.status
        else:
            obj["status"] = {**status, "allocated": write.allocated}
        self._show(obj)
        return True

    def _show(self, obj: Obj) -> None:
        self._versions += 1
        obj["metadata"]["resourceVersion"] = str(self._versions)
        self.upsert([obj])


def _set_conditions(status: Obj, write: Evict | PodStatus) -> None:
    kinds = {condition.type for condition in write.conditions}
    kept = [each for each in status.get("conditions", ()) if each["type"] not in kinds]
    status["conditions"] = kept + [
        {"type": c.type, "status": c.status, "reason": c.reason, "message": c.message} for c in write.conditions
    ]


def _leaves(pod: Obj) -> bool:
    return "deletionTimestamp" in pod["metadata"]
