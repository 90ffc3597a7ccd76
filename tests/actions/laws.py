"""What must hold while a cluster is played, said from outside the scheduler (issue: victims and queues).

`Laws` looks at the picture before and after each session and at what was evicted for whom in it.
"""

from __future__ import annotations

import itertools

from tests.actions.playing import LiveWorld
from vcsched.cache.evictions import Evicted
from vcsched.model import readiness
from vcsched.model.job import Job
from vcsched.model.task import Task

CRITICAL = ("system-cluster-critical", "system-node-critical")


class Laws:
    """Play sessions with `play`; every law that is broken is an AssertionError that tells the history."""

    def __init__(self, world: LiveWorld) -> None:
        self.world = world
        self.won: set[tuple[str, str]] = set()  # (victim's queue, job that pods of it were reclaimed for)
        self.owed: list[tuple[int, str, set[str]]] = []  # session, job, uids of victims it waits for
        self.broken: list[str] = []

    def play(self, limit: int = 60) -> None:
        quiet = 0
        for _ in range(limit):
            self._round()
            last = self.world.rounds[-1]
            quiet = quiet + 1 if last.is_quiet and not self.world._still_leaving() else 0
            if quiet == 3:
                break
        else:
            self.fail(f"no end after {limit} sessions")
        for session, job, _ in self.owed:
            self.fail(f"{job} never got the room that was made for it in session {session}")

    def fail(self, text: str) -> None:
        raise AssertionError(f"{text}: {self.world.history()}")

    # ------------------------------------------------------------------ one session

    def _round(self) -> None:
        world = self.world
        world.sync()
        world.now += 1.0
        picture = world.cache.picture
        before = _Before(world)
        world.session()
        done = world.rounds[-1]
        number = len(world.rounds)
        tasks = {task.key: task for task in picture.tasks.values()}
        self._bound(number, done.binds)
        if done.evictions:
            self._lawful(number, done.evictions, tasks, before)
        world.answer()
        for job in {e.beneficiary for e in done.evictions}:
            self._promised(job, [e for e in done.evictions if e.beneficiary == job], tasks)

    def _lawful(self, number: int, evictions: list[Evicted], tasks: dict[str, Task], before: _Before) -> None:
        for e in evictions:
            victim, job, mine = tasks[e.pod], self._job(e.job), self._job(e.beneficiary)
            if victim.namespace == "kube-system" or victim.pod.spec.priority_class_name in CRITICAL:
                self.fail(f"{e.pod} is critical")
            if not victim.preemptable:
                self.fail(f"{e.pod} is not preemptable")
            if e.reason.startswith("preempt"):
                self._preempted(e, victim, job, mine)
            else:
                self._reclaimed(job, mine)
            self._whole(e, before)
        for beneficiary in {e.beneficiary for e in evictions}:
            own = [e for e in evictions if e.beneficiary == beneficiary]
            self.owed.append((number, beneficiary, {tasks[e.pod].uid for e in own}))
            reclaimed = [e for e in own if e.reason.startswith("reclaim")]
            for queue in {self._job(e.job).queue for e in reclaimed}:
                assert queue is not None
                lost = [tasks[e.pod] for e in reclaimed if self._job(e.job).queue is queue]
                self._beyond_share(queue.name, _units(lost, {e.job for e in own if "gang" in e.reason}), before)

    def _job(self, key: str) -> Job:
        return self.world.cache.picture.jobs[key]

    def _preempted(self, e: Evicted, victim: Task, job: Job, mine: Job) -> None:
        if job.queue is not mine.queue:
            self.fail(f"{e.pod} is of another queue")
        if job is not mine and job.priority >= mine.priority:
            self.fail(f"{e.pod} is no lower than {e.beneficiary}")

    def _reclaimed(self, job: Job, mine: Job) -> None:
        assert job.queue is not None
        assert mine.queue is not None
        if job.queue is mine.queue or not job.queue.reclaimable:
            self.fail(f"queue {job.queue.name} may not be reclaimed from")
        if (mine.queue.name, job.key) in self.won:
            self.fail(f"queue {mine.queue.name} takes back from {job.key}")
        self.won.add((job.queue.name, mine.key))

    def _beyond_share(self, queue: str, units: list[list[Task]], before: _Before) -> None:
        """In some order, each pod went (or took its gang along) while its queue held more than it deserves of
        something that the pod asks for."""
        deserved = before.deserved(queue)
        if deserved is None:
            return
        left = self.world.held_at[units[0][0].uid]
        if not any(_each_is_over(order, left, deserved) for order in itertools.permutations(units)):
            names = [task.name for unit in units for task in unit]
            self.fail(f"{names} go, but queue {queue} has {left} left and deserves {deserved}")

    def _whole(self, e: Evicted, before: _Before) -> None:
        job = self.world.cache.picture.jobs[e.job]
        was = before.ready[e.job]
        if was < job.min_available or job.min_available < 2 or e.job == e.beneficiary:
            return
        left = readiness.ready(job.counts)
        if 0 < left < job.min_available:
            self.fail(f"{left} of {job.min_available} pods of {e.job} stay")

    def _promised(self, job_key: str, evictions: list[Evicted], tasks: dict[str, Task]) -> None:
        """Every node that lost a pod for the job, gangs aside, is promised to some pod of it."""
        world = self.world
        job = world.cache.picture.jobs[job_key]
        promised = {t.pod.status.nominated_node_name for t in job.pending.values()}
        for e in evictions:
            node = tasks[e.pod].node_name
            if "gang" not in e.reason and node not in promised:
                self.fail(f"{e.pod} left {node} for {job_key}, which has no promise there")

    def _bound(self, number: int, binds: dict[str, str]) -> None:
        world = self.world
        there = set(world.cache.picture.tasks)
        left = []
        for session, job, uids in self.owed:
            if any(world.cache.picture.tasks[_uid(world, pod)].job_key == job for pod in binds):
                continue
            if not uids & there and number > session + world.leave_after + 2:
                self.fail(f"{job} did not get the room that was made for it in session {session}")
            left.append((session, job, uids))
        self.owed = left


def _units(lost: list[Task], gangs: set[str]) -> list[list[Task]]:
    """Pods that went together."""
    whole = [[task for task in lost if task.job_key == gang] for gang in gangs]
    return [unit for unit in whole if unit] + [[task] for task in lost if task.job_key not in gangs]


def _each_is_over(order: tuple[list[Task], ...], left: dict[str, float], deserved: dict[str, float]) -> bool:
    """Whether, going back from what was left, the queue was over its share before each unit went."""
    held = dict(left)
    for unit in reversed(order):
        for task in unit:
            for name, amount in task.request.by_name.items():
                held[name] = held.get(name, 0.0) + amount
        asked = {name for task in unit for name, amount in task.request.by_name.items() if amount > 0} - {"pods"}
        if not any(held.get(name, 0.0) > deserved.get(name, 0.0) for name in asked):
            return False
    return True


def _uid(world: LiveWorld, key: str) -> str:
    return next(t.uid for t in world.cache.picture.tasks.values() if t.key == key)


class _Before:
    """The picture when a session begins."""

    def __init__(self, world: LiveWorld) -> None:
        picture = world.cache.picture
        self.world = world
        self.ready = {job.key: readiness.ready(job.counts) for job in picture.jobs.values()}

    def deserved(self, queue: str) -> dict[str, float] | None:
        """What the share plugin in force says a queue deserves; None without one."""
        for _, plugin in self.world.scheduler.plugins:
            row, space = self.world.cache.picture.queues[queue].row, self.world.cache.picture.space
            if plugin.name == "proportion":
                return {n: float(plugin.deserved[c, row]) for c, n in enumerate(space.names[: len(plugin.deserved)])}
            if plugin.name == "capacity":
                cells = plugin._books.deserved
                return {n: float(cells[c][row]) for c, n in enumerate(space.names[: len(cells)])}
        return None
