"""Stories: random sequences of what happens to a small cluster, told to the real cache.

A story knows which objects the API server has at present and how it would answer writes; each event changes
them and is told to the cache at once. Names are few, so that objects come back under the same name, meet
others that came before them in any order of kinds, and collide. Events are plain tuples, so that a failing
story shrinks to its few lines.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from tests.harness import SessionWorld
from vcsched.cache.cache import SchedulerCache
from vcsched.cache.compaction import compact
from vcsched.framework.conf_loader import BUILT_IN
from vcsched.kube.link import Bind, Evict, Outbound, PodGroupStatus, PodStatus, QueueStatus, Wrote
from vcsched.simulator.world import World, role

Obj = dict[str, Any]
Event = tuple[Any, ...]

NODES = [f"n{i}" for i in range(5)]
GANGS = [f"g{i}" for i in range(3)]
OWNED = "podgroup-rs"  # the group of the bare pods that one ReplicaSet owns
QUEUES = ["default", "q1", "q2"]
CLASSES = ["low", "high"]
MEMBERS = 4
GONE_AT = "2026-06-01T00:00:00Z"

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def _near(app: str, key: str, *, apart: bool, hard: bool = True) -> Obj:
    term: Obj = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    listed = (
        {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        if hard
        else {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "podAffinityTerm": term}]}
    )
    return {"podAntiAffinity" if apart else "podAffinity": listed}


def _spread(app: str, *, hard: bool) -> list[Obj]:
    return [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": app}},
        }
    ]


NODE_KINDS: list[Obj] = [
    {"cpu": 4, "memory": "8Gi", "pods": 4, "labels": {ZONE: "a"}},
    {"cpu": 2, "memory": "4Gi", "pods": 3, "labels": {ZONE: "b"}},
    {"cpu": 8, "memory": "16Gi", "resources": {"nvidia.com/gpu": 2}, "labels": {ZONE: "b", "pool": "gpu"}},
    {"cpu": 4, "pods": 2, "labels": {ZONE: "a"}, "taints": ["dedicated=x:NoSchedule"]},
    {"cpu": 4, "unschedulable": True},
    {"cpu": 3, "annotations": {"volcano.sh/oversubscription-cpu": "1500"}, "taints": ["soft=y:PreferNoSchedule"]},
]
POD_KINDS: list[Obj] = [
    {"cpu": 1, "memory": "1Gi"},
    {"cpu": 2, "labels": {"app": "web"}},
    {},
    {"cpu": "500m", "requests": {"nvidia.com/gpu": 1}},
    {"cpu": 1, "node_selector": {ZONE: "b"}},
    {"cpu": 1, "tolerations": ["dedicated=x:NoSchedule"], "priority_class": "high"},
    {"cpu": 1, "ports": [8080]},
    {"cpu": 1, "labels": {"app": "db"}, "affinity": _near("db", HOST, apart=True)},
    {"cpu": 1, "labels": {"app": "web"}, "affinity": _near("db", ZONE, apart=False)},
    {"cpu": 1, "affinity": _near("web", HOST, apart=False, hard=False)},
    {"cpu": 1, "labels": {"app": "web"}, "spread": _spread("web", hard=True)},
    {"labels": {"app": "web"}, "spread": _spread("web", hard=False)},
    {"cpu": 1, "gates": ["example.com/wait"]},
    {"cpu": 1, "gates": ["scheduling.volcano.sh/queue-allocation-gate"]},
    {"cpu": 3, "priority": 7, "annotations": {"volcano.sh/preemptable": "false"}},
    {"cpu": 0, "requests": {"example.com/new": 1}},
    {"cpu": "many"},
    {"cpu": 1, "spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}},
]
GROUP_KINDS: list[Obj] = [
    {"min_member": 2},
    {"min_member": 3, "queue": "q1"},
    {"min_member": 1, "queue": "q2", "priority_class": "high"},
    {"min_member": 0, "min_resources": None},
    {"min_member": 2, "queue": None, "min_resources": {"cpu": 2}},
    {"min_member": 4, "queue": "q1", "priority_class": "low", "min_resources": {"cpu": 100}},
    {"min_member": -1},
    {"min_member": 2, "roles": {"master": role(1, min_member=1), "worker": role(1, min_member=1)}},
    {"min_member": 2, "min_resources": {"cpu": "lots"}},
    {"min_member": 1, "queue": "q1", "priority_class": "low"},
    {"min_member": 1, "queue": "q1", "priority_class": "high"},
]
LOW, HIGH = len(GROUP_KINDS) - 2, len(GROUP_KINDS) - 1
QUEUE_KINDS: list[Obj] = [
    {},
    {"weight": 3, "capability": {"cpu": 4}},
    {"weight": 2, "guarantee": {"cpu": 1}, "deserved": {"cpu": 2}},
    {"state": "Closed"},
    {"state": None, "reclaimable": False},
    {"capability": {"cpu": "heaps"}},
]

_index = st.integers(0, 8)
_kind = st.integers(0, 100)


def _event(name: str, *parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Event]:
    return st.tuples(st.just(name), *parts)


CHANGES = st.one_of(
    _event("node", _index, _kind),
    _event("pod", _index, _index, _kind),
    _event("pod", _index, _index, _kind),
    _event("bare pod", _index, _kind, _index),
    _event("foreign pod", _index, _kind, _index),
    _event("group", _index, _kind),
    _event("queue", _index, _kind),
    _event("class", _index, st.integers(-5, 5)),
    _event("service", _index),
    _event("namespace", _index),
    _event("compaction"),
    _event("label", _index, _index),
    _event("runs", _index, _index),
    _event("resized", _index, _kind),
    _event("ends", _index, _kind),
    _event("leaves", _index),
    _event("gone", _index, _kind),
    _event("made anew", _index),
)
"""What users, nodes and controllers do."""

EVENTS = st.one_of(
    CHANGES,
    CHANGES,
    _event("session"),
    _event("session"),
    _event("answers", _kind),
    _event("processed", _kind),
    st.sampled_from([("shown",), ("kubelet",), ("kubelet",)]),
)
"""And what the scheduler and the API server do."""


def _sequences(events: st.SearchStrategy[Event], most: int) -> st.SearchStrategy[list[Event]]:
    """Lists of events, long ones as often as short ones."""
    return st.integers(0, most).flatmap(lambda n: st.lists(events, min_size=n, max_size=n))


_CLUSTER: list[Event] = [
    *(("node", index, index) for index in range(3)),
    ("queue", 1, 1),
    ("queue", 2, 2),
    *(("group", index, index) for index in range(3)),
    *(("pod", gang, index, gang % 2) for gang in range(3) for index in range(MEMBERS)),
]
_FULL: list[Event] = [
    ("class", 0, 1),
    ("class", 1, 3),
    ("queue", 1, 0),
    *(("node", index, 1) for index in range(2)),
    ("group", 0, LOW),
    *(("pod", 0, index, 0) for index in range(MEMBERS)),
    *[("session",), ("answers", 0), ("kubelet",)] * 2,
    ("group", 1, HIGH),
    *(("pod", 1, index, 1) for index in range(2)),
]
_STARTS: list[list[Event]] = [[], _CLUSTER, [*_CLUSTER, ("session",), ("answers", 0), ("kubelet",)], _FULL]


def _told(parts: tuple[list[Event], list[Event]]) -> list[Event]:
    return parts[0] + parts[1]


stories = st.tuples(st.sampled_from(_STARTS), _sequences(EVENTS, 40)).map(_told)
histories = st.tuples(st.sampled_from(_STARTS[:2]), _sequences(CHANGES, 40)).map(_told)


class Story:
    """`tell` one event after the other; `world` is the session world that hears of them.

    What writes do at the API server is seen by the cache later, but in order with everything else.
    """

    def __init__(self, conf: str = BUILT_IN, *, seed: int = 0) -> None:
        self.world = SessionWorld(conf, seed=seed)
        self.world.sync()
        self.objects = {_name(obj): obj for obj in self.world.objects()}  # what the API server has
        self._make = World()
        self._version = 0
        self._done = 0  # so many writes have taken effect
        self._replies: list[Wrote] = []
        self._unseen: list[tuple[str, Obj]] = []

    @property
    def cache(self) -> SchedulerCache:
        return self.world.cache

    @property
    def writes(self) -> list[Outbound]:
        return self.world.writes

    def tell(self, event: Event) -> None:
        """One event happens."""
        getattr(self, "_" + event[0].replace(" ", "_"))(*event[1:])

    def tell_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self.tell(event)

    def settle(self) -> None:
        """The API server answers every write with success, and everything is seen; also what is written about binds
        of pods that are gone meanwhile."""
        for _ in range(3):
            self._answers(0)
            self._shown()
            if not self.cache.writes_in_flight:
                return

    def put(self, obj: Obj) -> None:
        """Somebody creates an object, or lets it take the place of the one that has its name."""
        old = self.objects.get(_name(obj))
        if old is not None:
            for field in ("uid", "creationTimestamp"):
                obj["metadata"][field] = old["metadata"][field]
            if obj["kind"] in ("Pod", "PodGroup"):
                obj["status"] = old.get("status", {})
            if old.get("spec", {}).get("nodeName"):
                obj["spec"]["nodeName"] = old["spec"]["nodeName"]
        self.happens(obj)

    def happens(self, obj: Obj) -> None:
        """An object becomes this, its status too, and it is seen."""
        self._change(obj)
        self._shown()

    def remove(self, obj: Obj) -> None:
        """An object is gone."""
        del self.objects[_name(obj)]
        self._unseen.append(("delete", obj))
        self._shown()

    def of(self, kind: str) -> list[Obj]:
        return [obj for (of_kind, _), obj in self.objects.items() if of_kind == kind]

    def _change(self, obj: Obj) -> None:
        self._version += 1
        obj["metadata"]["resourceVersion"] = str(self._version)
        self.objects[_name(obj)] = obj
        self._unseen.append(("put", obj))

    def _shown(self) -> None:
        """The watch has caught up."""
        unseen, self._unseen = self._unseen, []
        for what, obj in unseen:
            if what == "put":
                self.world.upsert([obj])
            else:
                self.world.delete(obj)
        self.world.writes.extend(self.cache.link.take())

    # ---------------------------------------------------------------- users and nodes

    def _node(self, index: int, kind: int) -> None:
        self.put(self._make.node(NODES[index % len(NODES)], **copy.deepcopy(NODE_KINDS[kind % len(NODE_KINDS)])))

    def _pod(self, gang: int, index: int, kind: int) -> None:
        name = GANGS[gang % len(GANGS)]
        options = copy.deepcopy(POD_KINDS[kind % len(POD_KINDS)])
        options.setdefault("annotations", {})
        if index % 3 == 0:
            options["annotations"]["volcano.sh/task-spec"] = "master"
        self.put(self._make.pod(f"{name}-{index % MEMBERS}", gang=name, **options))

    def _bare_pod(self, index: int, kind: int, owner: int) -> None:
        options = copy.deepcopy(POD_KINDS[kind % len(POD_KINDS)])
        if owner % 2:
            options.pop("priority_class", None)  # they are made of one template
        pod = self._make.pod(f"bare-{index % 3}", **options)
        if owner % 2:
            owner_of = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
            pod["metadata"]["ownerReferences"] = [owner_of]
        self.put(pod)

    def _foreign_pod(self, index: int, kind: int, node: int) -> None:
        options = copy.deepcopy(POD_KINDS[kind % len(POD_KINDS)])
        name = f"foreign-{index % 3}"
        self.put(self._make.pod(name, node=NODES[node % len(NODES)], **(options | {"scheduler": "other"})))

    def _group(self, index: int, kind: int) -> None:
        options = copy.deepcopy(GROUP_KINDS[kind % len(GROUP_KINDS)])
        name = [*GANGS, OWNED][index % (len(GANGS) + 1)]
        self.put(self._make.gang(name, pods=0, **options).group)

    def _queue(self, index: int, kind: int) -> None:
        options = copy.deepcopy(QUEUE_KINDS[kind % len(QUEUE_KINDS)])
        self.put(self._make.queue(QUEUES[index % len(QUEUES)], **options))

    def _class(self, index: int, value: int) -> None:
        name = CLASSES[index % len(CLASSES)]
        self.put(self._make.priority_class(name, value, default=value > 3))

    def _service(self, index: int) -> None:
        self.put(self._make.service(f"s{index % 2}", {"app": ("web", "db", "web")[index % 3]}))

    def _namespace(self, index: int) -> None:
        self.put(self._make.namespace("default", labels={"team": str(index % 2)}))

    def _compaction(self) -> None:
        """Rows of nodes that are gone are given back."""
        compact(self.cache.picture)

    def _label(self, index: int, value: int) -> None:
        """Somebody changes the labels of a pod."""
        pod = self._some_pod(index)
        if pod is not None:
            pod["metadata"]["labels"] = {**pod["metadata"].get("labels", {}), "app": ("web", "db", "x")[value % 3]}
            self.happens(pod)

    def _runs(self, index: int, node: int) -> None:
        """A pod is seen on a node, its own or one that somebody else has put it on."""
        pod = self._some_pod(index)
        if pod is not None:
            pod["spec"].setdefault("nodeName", NODES[node % len(NODES)])
            pod["status"] = {"phase": "Running"}
            self.happens(pod)

    def _kubelet(self) -> None:
        """Pods that are bound run, and pods that are being deleted are gone."""
        self._shown()
        for pod in self.of("Pod"):
            if pod["metadata"].get("deletionTimestamp"):
                self.remove(pod)
            elif pod["spec"].get("nodeName") and pod.get("status", {}).get("phase") == "Pending":
                pod = copy.deepcopy(pod)
                pod["status"]["phase"] = "Running"
                self.happens(pod)

    def _resized(self, index: int, kind: int) -> None:
        """The kubelet says what a container has by now, or that it can never have it."""
        pod = self._some_pod(index)
        if pod is not None:
            name = pod["spec"]["containers"][0]["name"]
            requests = {"cpu": ("1", "3", "500m")[kind % 3]}
            pod["status"]["containerStatuses"] = [{"name": name, "resources": {"requests": requests}}]
            reason = ("Infeasible", "Deferred")[kind % 2]
            pod["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
            self.happens(pod)

    def _ends(self, index: int, kind: int) -> None:
        pod = self._some_pod(index)
        if pod is not None:
            pod["status"] = {"phase": ("Succeeded", "Failed", "Unknown", "")[kind % 4]}
            self.happens(pod)

    def _leaves(self, index: int) -> None:
        """A pod is being deleted."""
        pod = self._some_pod(index)
        if pod is not None:
            pod["metadata"]["deletionTimestamp"] = GONE_AT
            self.happens(pod)

    def _gone(self, index: int, kind: int) -> None:
        kinds = ("Pod", "Pod", "Node", "PodGroup", "Queue", "PriorityClass", "Service", "Namespace")
        there = self.of(kinds[kind % len(kinds)])
        if there:
            self.remove(there[index % len(there)])

    def _made_anew(self, index: int) -> None:
        """A pod or node is deleted, and another one of its name comes at once."""
        there = self.of("Pod") + self.of("Node")
        if there:
            old = there[index % len(there)]
            new = copy.deepcopy(old)
            self.remove(old)
            new["metadata"] = {**new["metadata"], "uid": f"{old['metadata']['uid']}+"}
            new["metadata"].pop("deletionTimestamp", None)
            if new["kind"] == "Pod":
                new["status"] = {"phase": "Pending"}
                new["spec"].pop("nodeName", None)
            self.put(new)

    def _some_pod(self, index: int) -> Obj | None:
        pods = self.of("Pod")
        return copy.deepcopy(pods[index % len(pods)]) if pods else None

    # ---------------------------------------------------------------- scheduler and API server

    def _session(self) -> None:
        self.world.now += 1.0
        self.world.session()

    def _processed(self, kind: int) -> None:
        """The API server does what was written: with success, or (seldom) with a failure. The answers are under way."""
        new, self._done = self.writes[self._done :], len(self.writes)
        for place, write in enumerate(new):
            number = getattr(write, "no", 0)
            if number:
                failure = kind % 10 == 9 and place % 2 == 0
                status, reason = (500, "boom") if failure else self._effect(write)
                self._replies.append(Wrote(number, not reason, status, reason))

    def _answers(self, kind: int) -> None:
        """Every write is done and answered. The watch may be faster than the answers."""
        self._processed(kind)
        if kind % 2:
            self._shown()
        replies, self._replies = self._replies, []
        for reply in replies:
            self.cache.link.put(reply)
        self.cache.drain()

    def _effect(self, write: Outbound) -> tuple[int, str]:
        """What a write does at the API server: HTTP status and what went wrong."""
        if isinstance(write, QueueStatus):
            found = self.objects.get(("Queue", write.name))
        else:
            assert isinstance(write, Bind | Evict | PodStatus | PodGroupStatus)
            kind = "PodGroup" if isinstance(write, PodGroupStatus) else "Pod"
            found = self.objects.get((kind, f"{write.namespace}/{write.name}"))
            if found is not None and found["metadata"]["uid"] != write.uid:
                return 409, "another object has this name"
        if found is None:
            return 404, "not found"
        obj = copy.deepcopy(found)
        if isinstance(write, Bind):
            if obj["spec"].get("nodeName"):
                return 409, "pod is on a node already"
            obj["spec"]["nodeName"] = write.node
        elif isinstance(write, Evict):
            obj["metadata"]["deletionTimestamp"] = GONE_AT
        elif isinstance(write, PodStatus):
            _set_conditions(obj, write)
        elif isinstance(write, PodGroupStatus):
            obj["status"] = write.status
        elif isinstance(write, QueueStatus):
            obj["status"] = {**obj.get("status", {}), "allocated": write.allocated}
        self._change(obj)
        return 200, ""


def _set_conditions(pod: Obj, write: PodStatus) -> None:
    status = pod.setdefault("status", {})
    others = [c for c in status.get("conditions", ()) if c["type"] not in {c.type for c in write.conditions}]
    status["conditions"] = others + [
        {"type": c.type, "status": c.status, "reason": c.reason, "message": c.message} for c in write.conditions
    ]
    if write.nominated is not None:
        status["nominatedNodeName"] = write.nominated


def _name(obj: Obj) -> tuple[str, str]:
    meta = obj["metadata"]
    return obj["kind"], f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else meta["name"]
