"""The extension points: one list, with what each asks and how answers are combined (spec 03 §7).

A plugin registers with `ssn.<point>.add(self, function)` while it is opened; calling the attribute asks.
A plugin entry whose switch for a point is off is not heard there. Ways to combine:

    Order        first non-zero comparison decides (negative: left first), else a default order
    All          no at the first no; yes when nobody registered
    Any          yes at the first yes; no when nobody registered
    Vote         a Reject ends it with no; a tier with a Permit ends it with yes; else the next tier; end: yes
    TierAll      the first tier in which somebody registered decides, all of it must agree; nobody: no
    Victims      intersection inside a tier, the first tier with an answer decides (§7.4)
    Union        union inside a tier, the first tier with a victim decides
    FirstFailure the first non-None answer ends the walk and is returned
    First        the first that registered decides, whatever it says
    FirstAnswer  the first non-None answer
    Each         everybody is called
    Filters, Scores   kept columns, combined by `framework.pipeline`

| point | plugin function | combined | switch |
|---|---|---|---|
| job_order, sub_job_order, task_order, queue_order, cluster_order | (a, b) -> int | Order | per point |
| victim_queue_order | (left, right, preemptor: Queue) -> int | Order | none |
| job_valid | Job -> Invalid or None | FirstFailure | none |
| job_enqueueable | Job -> vote | Vote | enableJobEnqueued |
| job_enqueued | Job -> None | Each | enableJobEnqueued |
| job_ready / sub_job_ready | Job / SubJob -> bool | All | per point |
| job_pipelined / sub_job_pipelined | Job / SubJob -> vote | Vote | per point |
| job_starving | Job -> bool | TierAll | enableJobStarving |
| overused | Queue -> bool | Any | enabledOverused |
| allocatable, simulate_allocatable | (Queue, Task) -> bool | All | enabledAllocatable |
| preemptive | (Queue, tasks) -> bool | All | enablePreemptive |
| preemptable, reclaimable | (Task, candidates) -> (victims, vote) | Victims | per point |
| unified_evictable | (EvictionContext, candidates) -> (victims, vote) | Victims | none |
| victim_tasks | tasks -> victims | Union | enabledVictim |
| pre_predicate | Task -> Fit or None | FirstFailure | enablePredicate |
| predicate | see `Filters.add` | Filters | enablePredicate |
| node_order, batch_node_order | see `Scores.add` | Scores | enableNodeOrder |
| node_map, node_reduce | (Task, Node) -> float; (Task, scores) -> None | map, reduce, sum | enableNodeOrder |
| best_node | (Task, {score: nodes}) -> Node or None | FirstAnswer | enableBestNode |
| hyper_node_order | (SubJob, {name: nodes}) -> {name: float} | Each, summed | enabledHyperNodeOrder |
| gradient_for_[sub_]job | (job, hypernode, purpose) -> hypernode lists | First | enabledHyperNodeGradient |
| simulate_[add, remove]_task | (state, preemptor, task, node) -> Fit or None | FirstFailure | either of two |
| simulate_predicate | (Ask of the preemptor, node) -> Fit or None | FirstFailure | enablePredicate |
| target_job | jobs -> Job or None | First | enableTargetJob |
| reserved_nodes | () -> None | Each | enableReservedNodes |
| binding | (Task) -> annotations for the bind, or None | Each, merged | none |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from vcsched.framework.plugin import ABSTAIN, PERMIT, Reads

if TYPE_CHECKING:
    from vcsched.framework.plugin import Plugin
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.subjob import SubJob
    from vcsched.model.task import Task

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Invalid(NamedTuple):
    """Why a job cannot take part; reason and message of spec 05 §3.1."""

    reason: str
    message: str


class EvictionContext(NamedTuple):
    """Who evicts, given to `unified_evictable`; `task` is None for the gang kinds."""

    kind: str  # "gangpreempt", "gangreclaim", "preempt" or "reclaim"
    job: Job
    task: Task | None
    hypernode: str


class Registered(NamedTuple):
    """One function at one point."""

    plugin: str
    tier: int
    function: Any


class Opening(NamedTuple):
    """The plugin entry that is being opened: its name, its tier, and whether a switch is on."""

    plugin: str
    tier: int
    is_enabled: Callable[[str], bool]


class Registry:
    """What points share during `open`: whose turn it is to register."""

    def __init__(self) -> None:
        self.opening: Opening | None = None


class Point(Generic[F]):
    """Base: a list of functions in tier order."""

    def __init__(self, registry: Registry, *switches: str) -> None:
        self._registry = registry
        self._switches = switches
        self.registered: list[Registered] = []

    def add(self, plugin: Plugin, function: F) -> None:
        """Register a function of a plugin; a second one of the same plugin replaces the first."""
        opening = self._opening(plugin)
        if opening is None:
            return
        entry = Registered(opening.plugin, opening.tier, function)
        self.registered = [r for r in self.registered if r.plugin != opening.plugin] + [entry]

    def _opening(self, plugin: Plugin) -> Opening | None:
        opening = self._registry.opening
        if opening is None:
            raise RuntimeError(f"plugin {plugin.name}: functions are registered in open(), not later")
        if self._switches and not any(opening.is_enabled(s) for s in self._switches):
            return None
        return opening

    def __bool__(self) -> bool:
        return bool(self.registered)


class Order(Point[Callable[[T, T], int]], Generic[T]):
    """`compare(a, b)`: below 0 if a comes first, 0 if nobody cares.

    A plugin may give `key=x -> sortable` with its comparison: equal to it, and unchanged until x itself is
    placed or evicted. Where every plugin gives one, items are keyed once instead of being compared.
    """

    def __init__(self, registry: Registry, *switches: str) -> None:
        super().__init__(registry, *switches)
        self.keys: dict[str, Callable[[T], Any]] = {}

    def add(self, plugin: Plugin, function: Callable[[T, T], int], key: Callable[[T], Any] | None = None) -> None:
        super().add(plugin, function)
        if key is not None and self.registered and self.registered[-1].plugin == plugin.name:
            self.keys[plugin.name] = key

    def compare(self, a: T, b: T) -> int:
        for entry in self.registered:
            answer = entry.function(a, b)
            if answer:
                return int(answer)
        return 0

    def sort_key(self) -> Callable[[T], tuple[Any, ...]] | None:
        """One key for the whole order, or None if some plugin only compares."""
        if any(r.plugin not in self.keys for r in self.registered):
            return None
        keys = [self.keys[r.plugin] for r in self.registered]
        if len(keys) == 3:  # as configured by default: a third cheaper than the general form
            first, second, third = keys
            return lambda item: (first(item), second(item), third(item))
        return lambda item: tuple([key(item) for key in keys])


class VictimQueueOrder(Point[Callable[["Queue", "Queue", "Queue"], int]]):
    """Which of two victim queues gives first, seen from the preemptor's queue."""

    def compare(self, left: Queue, right: Queue, preemptor: Queue) -> int:
        for entry in self.registered:
            answer = entry.function(left, right, preemptor)
            if answer:
                return int(answer)
        return 0


class Explained(Point[Callable[..., bool]]):
    """A yes or no of which people ask the reason. `why` of a plugin is only asked where its answer was the
    bad one, and not on the way to a decision, so it may take its time to word a sentence."""

    bad: bool

    def __init__(self, registry: Registry, *switches: str) -> None:
        super().__init__(registry, *switches)
        self._whys: dict[Callable[..., bool], Callable[..., str]] = {}

    def add(self, plugin: Plugin, function: Callable[..., bool], why: Callable[..., str] | None = None) -> None:
        """`why(*args) -> str`: one sentence, with numbers, why `function` answers these arguments so."""
        super().add(plugin, function)
        if why is not None:
            self._whys[function] = why

    def why(self, *args: Any) -> str:
        """The sentence of the first plugin whose answer is the bad one; "" if it gives none."""
        for entry in self.registered:
            if bool(entry.function(*args)) is self.bad:
                why = self._whys.get(entry.function)
                return why(*args) if why is not None else ""
        return ""


class All(Explained):
    bad = False

    def __call__(self, *args: Any) -> bool:
        for entry in self.registered:  # noqa: SIM110 (asked for every placement: a loop costs half of all())
            if not entry.function(*args):
                return False
        return True


class AnyOf(Explained):
    bad = True

    def __call__(self, *args: Any) -> bool:
        for entry in self.registered:  # noqa: SIM110 (asked for every turn of a queue)
            if entry.function(*args):
                return True
        return False


class Vote(Point[Callable[[T], int]], Generic[T]):
    def __call__(self, subject: T) -> bool:
        permitted = False
        tier = -1
        for entry in self.registered:
            if entry.tier != tier:
                if permitted:
                    return True
                tier = entry.tier
            vote = entry.function(subject)
            if vote < ABSTAIN:
                return False
            permitted = permitted or vote >= PERMIT
        return True


class TierAll(Point[Callable[[T], bool]], Generic[T]):
    def __call__(self, subject: T) -> bool:
        first = self.registered[0].tier if self.registered else -1
        return bool(self.registered) and all(r.function(subject) for r in self.registered if r.tier == first)


VictimFunction = Callable[[Any, Sequence["Task"]], "tuple[Sequence[Task], int]"]


class Victims(Point[VictimFunction]):
    """Who may be evicted (spec 03 §7.4). `final` names plugins whose empty answer ends the whole vote."""

    def __init__(
        self, registry: Registry, *switches: str, restart: bool = False, final: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(registry, *switches)
        self._restart = restart
        self._final = final

    def __call__(self, evictor: Any, candidates: Sequence[Task]) -> list[Task]:
        chosen: list[Task] | None = None
        tier, skip = -1, False
        for entry in self.registered:
            if entry.tier != tier:
                if chosen is not None:
                    return chosen
                tier, skip = entry.tier, False
            if skip:
                continue
            victims, vote = entry.function(evictor, candidates)
            if vote == ABSTAIN:
                continue
            if not victims:
                if entry.plugin in self._final:
                    return []
                chosen, skip = None, True
            elif chosen is None:
                chosen = list(victims)
            else:
                allowed = {task.uid for task in victims}
                chosen = [task for task in chosen if task.uid in allowed]
                if not chosen:
                    chosen, skip = None, not self._restart
        return chosen or []


class Union(Point[Callable[[Sequence["Task"]], Iterable["Task"]]]):
    """Victims named by plugins, less those that other plugins protect."""

    def __init__(self, registry: Registry, *switches: str) -> None:
        super().__init__(registry, *switches)
        self._protectors: list[Callable[[Sequence[Task]], Sequence[Task]]] = []

    def protect(self, plugin: Plugin, function: Callable[[Sequence[Task]], Sequence[Task]]) -> None:
        """`function(victims)` gives those that may go; asked last, whatever the plugin's tier."""
        if self._opening(plugin) is not None:
            self._protectors.append(function)

    def __call__(self, tasks: Sequence[Task]) -> list[Task]:
        victims: Sequence[Task] = self._named(tasks)
        for protector in self._protectors:
            victims = protector(victims)
        return list(victims)

    def _named(self, tasks: Sequence[Task]) -> list[Task]:
        chosen: dict[str, Task] = {}
        tier = -1
        for entry in self.registered:
            if entry.tier != tier:
                if chosen:
                    break
                tier = entry.tier
            for task in entry.function(tasks):
                chosen[task.uid] = task
        return list(chosen.values())


class FirstFailure(Point[Callable[..., Any]]):
    def __call__(self, *args: Any) -> Any:
        for entry in self.registered:
            answer = entry.function(*args)
            if answer is not None:
                return answer
        return None


class First(Point[Callable[..., Any]]):
    def __call__(self, *args: Any) -> Any:
        return self.registered[0].function(*args) if self.registered else None


FirstAnswer = FirstFailure  # the same walk, asked for something wanted instead of something wrong


class Each(Point[Callable[..., Any]]):
    def __call__(self, *args: Any) -> list[Any]:
        return [entry.function(*args) for entry in self.registered]


class Filter(NamedTuple):
    """One filter function; see `Filters.add`."""

    plugin: str
    scalar: Callable[..., Any] | None
    vector: Callable[..., None] | None
    reads: Reads
    applies: Callable[..., bool] | None
    version: Callable[..., Any] | None


class Filters(Point[Callable[..., Any]]):
    """Which nodes a task fits. A plugin may register several functions: their reasons pile up on a row until
    one is unresolvable or an error; a row that a plugin refused is not shown to the plugins after it."""

    def __init__(self, registry: Registry, *switches: str) -> None:
        super().__init__(registry, *switches)
        self.filters: list[Filter] = []

    def add(
        self,
        plugin: Plugin,
        function: Callable[..., Any] | None = None,
        *,
        vector: Callable[..., None] | None = None,
        reads: Reads = "any",
        applies: Callable[..., bool] | None = None,
        version: Callable[..., Any] | None = None,
    ) -> None:
        """`function(task, node) -> Fit | None`, or `vector(ask, nodes, verdict) -> None`, or both (equal).

        `applies(ask) -> bool` False means that the filter cannot fail for this shape and is not asked; it is
        found out once a shape, so it must not depend on nodes or pods.
        `version(ask)` belongs to reads="pods": the answer is kept while it stays the same.
        """
        opening = self._opening(plugin)
        if opening is not None:
            self.filters.append(Filter(opening.plugin, function, vector, reads, applies, version))

    def __bool__(self) -> bool:
        return bool(self.filters)


class Score(NamedTuple):
    """One score function; see `Scores.add`."""

    plugin: str
    scalar: Callable[..., Any] | None
    vector: Callable[..., Any] | None
    reads: Reads
    applies: Callable[..., bool] | None
    version: Callable[..., Any] | None
    normalise: Callable[..., Any] | None


class Scores(Point[Callable[..., Any]]):
    """How good a node is for a task; the sum over all functions decides, without further weights."""

    def __init__(self, registry: Registry, *switches: str, batch: bool) -> None:
        super().__init__(registry, *switches)
        self.scores: list[Score] = []
        self.batch = batch

    def add(
        self,
        plugin: Plugin,
        function: Callable[..., Any] | None = None,
        *,
        vector: Callable[..., Any] | None = None,
        reads: Reads = "any",
        applies: Callable[..., bool] | None = None,
        version: Callable[..., Any] | None = None,
        normalise: Callable[..., Any] | None = None,
    ) -> None:
        """`vector(ask, nodes) -> float64[k]` (or a float for one node).

        The scalar form is `(task, node) -> float` at `node_order`, and `(task, nodes) -> {name: float}` at
        `batch_node_order`. With `normalise`, `vector` gives raw values that do not depend on the candidates
        (kept as `reads` says) and `normalise(ask, raw: float64[k]) -> float64[k]` turns those of the current
        candidates into scores. A kept answer lasts while `version(ask)` stays the same, if that is given.
        """
        opening = self._opening(plugin)
        if opening is not None:
            self.scores.append(Score(opening.plugin, function, vector, reads, applies, version, normalise))

    def __bool__(self) -> bool:
        return bool(self.scores)


class Points:
    """All extension points of one session, in the order of their first use."""

    def __init__(self, *, victim_restart: bool = False, final_vetoes: frozenset[str] = frozenset()) -> None:
        turn = self.registry = Registry()
        self.queue_order: Order[Queue] = Order(turn, "enableQueueOrder")
        self.job_order: Order[Job] = Order(turn, "enableJobOrder")
        self.sub_job_order: Order[SubJob] = Order(turn, "enabledSubJobOrder")
        self.task_order: Order[Task] = Order(turn, "enableTaskOrder")
        self.cluster_order: Order[Any] = Order(turn, "enabledClusterOrder")
        self.victim_queue_order = VictimQueueOrder(turn)
        self.job_valid = FirstFailure(turn)
        self.job_enqueueable: Vote[Job] = Vote(turn, "enableJobEnqueued")
        self.job_enqueued = Each(turn, "enableJobEnqueued")
        self.overused = AnyOf(turn, "enabledOverused")
        self.allocatable = All(turn, "enabledAllocatable")
        self.pre_predicate = FirstFailure(turn, "enablePredicate")
        self.predicate = Filters(turn, "enablePredicate")
        self.node_order = Scores(turn, "enableNodeOrder", batch=False)
        self.batch_node_order = Scores(turn, "enableNodeOrder", batch=True)
        self.node_map = Each(turn, "enableNodeOrder")
        self.node_reduce = Each(turn, "enableNodeOrder")
        self.best_node = FirstAnswer(turn, "enableBestNode")
        self.job_ready = All(turn, "enableJobReady")
        self.sub_job_ready = All(turn, "enabledSubJobReady")
        self.job_pipelined: Vote[Job] = Vote(turn, "enableJobPipelined")
        self.sub_job_pipelined: Vote[SubJob] = Vote(turn, "enabledSubJobPipelined")
        self.job_starving: TierAll[Job] = TierAll(turn, "enableJobStarving")
        self.preemptive = All(turn, "enablePreemptive")
        options: dict[str, Any] = {"restart": victim_restart, "final": final_vetoes}
        self.preemptable = Victims(turn, "enablePreemptable", **options)
        self.reclaimable = Victims(turn, "enableReclaimable", **options)
        self.unified_evictable = Victims(turn, **options)
        self.victim_tasks = Union(turn, "enabledVictim")
        self.simulate_add_task = FirstFailure(turn, "enablePreemptable", "enabledAllocatable")
        self.simulate_remove_task = FirstFailure(turn, "enablePreemptable", "enabledAllocatable")
        self.simulate_predicate = FirstFailure(turn, "enablePredicate")
        self.simulate_allocatable = All(turn, "enabledAllocatable")
        self.hyper_node_order = Each(turn, "enabledHyperNodeOrder")
        self.gradient_for_job = First(turn, "enabledHyperNodeGradient")
        self.gradient_for_sub_job = First(turn, "enabledHyperNodeGradient")
        self.target_job = First(turn, "enableTargetJob")
        self.reserved_nodes = Each(turn, "enableReservedNodes")
        self.binding = Each(turn)
