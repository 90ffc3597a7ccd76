"""What waits to be written, in the order it should leave: binds, evictions, statuses.

- One write of an object is under way at a time; later ones of the same object wait for it.
- A status write that still waits is merged with a newer one of the same object: the newest fields win.
- A bind or an eviction overtakes the waiting status writes of its pod: "unschedulable" must not be written
  over a pod that has been bound.
- After a failed bind, the waiting binds of its gang can be taken out (`hold`).

Data structure only; no I/O, no time.
"""

from __future__ import annotations

from collections import deque

import msgspec

from vcsched.kube.link import Bind, Evict, PodGroupStatus, PodStatus, QueueStatus

Write = Bind | Evict | PodStatus | PodGroupStatus | QueueStatus

_LANES: dict[type, int] = {Bind: 0, Evict: 1, PodStatus: 2, PodGroupStatus: 2, QueueStatus: 2}


class Job:
    """One write on its way, with what its next try has to know.

    `numbers` are the messages it stands for; `unsure`: an earlier try may have succeeded unseen; `stale`:
    the object has to be read anew first; `marked`: the conditions of an eviction are done with.
    """

    __slots__ = (
        "began",
        "dropped",
        "key",
        "lane",
        "marked",
        "message",
        "numbers",
        "stale",
        "tries",
        "unsure",
    )

    def __init__(self, message: Write) -> None:
        self.message = message
        self.lane = _LANES[type(message)]
        self.key = _key(message)
        self.numbers = [message.no]
        self.tries = 0
        self.began = 0.0
        self.unsure = False
        self.stale = False
        self.marked = False
        self.dropped = False


class Lanes:
    """All writes that were not finished yet."""

    def __init__(self) -> None:
        self._ready: tuple[deque[Job], ...] = (deque(), deque(), deque())
        self._busy: dict[str, list[Job] | None] = {}  # object under way -> jobs that wait for it
        self._statuses: dict[str, Job] = {}  # object -> its status write that has not left yet
        self._gangs: dict[str, dict[int, Job]] = {}  # gang -> binds that have not left yet
        self.unfinished = 0

    @property
    def ready(self) -> bool:
        """Whether `next` may have something."""
        return any(self._ready)

    def add(self, message: Write) -> list[Job]:
        """Queue a write; returns the jobs that it overtakes, which are out of the lanes now."""
        job = Job(message)
        overtaken: list[Job] = []
        waiting = self._statuses.get(job.key) if self._statuses else None
        if isinstance(message, Bind | Evict):
            if waiting is not None:
                self._take_out(waiting)
                overtaken.append(waiting)
            if isinstance(message, Bind) and message.gang:
                self._gangs.setdefault(message.gang, {})[message.no] = job
        elif waiting is not None:
            waiting.message = merge(waiting.message, message)
            waiting.numbers.append(message.no)
            return overtaken
        else:
            self._statuses[job.key] = job
        self._ready[job.lane].append(job)
        self.unfinished += 1
        return overtaken

    def next(self) -> Job | None:
        """The job that should leave now; None if there is none."""
        busy = self._busy
        for lane in self._ready:
            while lane:
                job = lane.popleft()
                if job.dropped:
                    continue
                if job.key in busy and not job.tries:
                    queue = busy[job.key]
                    if queue is None:
                        busy[job.key] = [job]
                    else:
                        queue.append(job)
                    continue
                if not job.tries:
                    busy[job.key] = None
                    self._left(job)
                return job
        return None

    def again(self, job: Job) -> None:
        """A job whose pause is over: next in its lane; its object is still its own."""
        self._ready[job.lane].appendleft(job)

    def rival(self, job: Job) -> Job | None:
        """For a status write that has to try again: what makes it pointless, or takes it up.

        A newer status write of the object takes its fields up; a bind or eviction ends it.
        """
        if job.lane != 2:
            return None
        waiting = self._busy.get(job.key) or ()
        return self._statuses.get(job.key) or next((w for w in waiting if not w.dropped), None)

    def absorb(self, job: Job, newer: Job) -> None:
        """Give up a status write under way in favour of the newer one that waits; `done` still follows."""
        newer.message = merge(job.message, newer.message)
        newer.numbers = job.numbers + newer.numbers
        newer.stale = newer.stale or job.stale
        job.numbers = []

    def done(self, job: Job) -> None:
        """The job is finished; what waited for its object may leave."""
        self.unfinished -= 1
        queue = self._busy.pop(job.key, None)
        for waiting in reversed(queue or ()):
            self._ready[waiting.lane].appendleft(waiting)

    def hold(self, gang: str) -> list[Job]:
        """Take out the binds of a gang that have not left yet."""
        held = list(self._gangs.pop(gang, {}).values())
        for job in held:
            job.dropped = True
            self.unfinished -= 1
        return held

    def clear(self) -> list[Job]:
        """Take out everything that has not left."""
        jobs = [job for lane in self._ready for job in lane if not job.dropped and not job.tries]
        jobs += [job for queue in self._busy.values() for job in queue or () if not job.dropped]
        for job in jobs:
            self._left(job)
            job.dropped = True
            self.unfinished -= 1
        return jobs

    # ---------------------------------------------------------------- parts

    def _left(self, job: Job) -> None:
        message = job.message
        if isinstance(message, Bind):
            if message.gang:
                gang = self._gangs[message.gang]
                del gang[message.no]
                if not gang:
                    del self._gangs[message.gang]
        elif self._statuses.get(job.key) is job:
            del self._statuses[job.key]

    def _take_out(self, job: Job) -> None:
        self._left(job)
        job.dropped = True
        self.unfinished -= 1


def merge(older: Write, newer: Write) -> Write:
    """One status write for two of the same object; where both say something, the newer one's word."""
    if isinstance(older, PodStatus) and isinstance(newer, PodStatus):
        said = {condition.type for condition in newer.conditions}
        kept = tuple(condition for condition in older.conditions if condition.type not in said)
        nominated = older.nominated if newer.nominated is None else newer.nominated
        return msgspec.structs.replace(newer, conditions=kept + newer.conditions, nominated=nominated)
    if isinstance(older, PodGroupStatus) and isinstance(newer, PodGroupStatus):
        annotations = {**(older.annotations or {}), **(newer.annotations or {})} or None
        return msgspec.structs.replace(newer, status={**older.status, **newer.status}, annotations=annotations)
    return newer


def _key(message: Write) -> str:
    if isinstance(message, QueueStatus):
        return f"queue {message.name}"
    return message.uid or f"{type(message).__name__} {message.namespace}/{message.name}"
