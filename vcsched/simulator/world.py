"""The World builder: a cluster's Kubernetes objects in a few readable lines.

    world = World()
    world.nodes(2, cpu=2, memory="4Gi")
    world.queue("research", weight=2)
    world.gang("llama", pods=4, cpu=1, queue="research")
    print(world.yaml())

Tests, demo, examples and benchmarks all describe their situation with it. It only builds: real API objects as
plain dicts, the way the API server would return them, in order of arrival. It talks to nobody and decides
nothing; tests subclass it to run sessions, `vcsched simulate --load` serves its YAML.

Names, uids and creation times are deterministic: the same calls give the same bytes. The clock advances one
second per builder call, so what was said first is older. A namespace other than `default` is made when it is
first used. What may be said about pods and nodes: `fragments.PodOptions`, `fragments.NodeOptions`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack

import yaml

from vcsched.kube import keys
from vcsched.simulator import fragments
from vcsched.simulator.fragments import Amount, NodeOptions, Obj, PodOptions
from vcsched.simulator.minting import Mint, owner_reference, running_status

_BUILT_IN_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


@dataclass(frozen=True, slots=True)
class Gang:
    """What `World.gang` made: the PodGroup and its pods, the World's own objects, not copies."""

    group: Obj
    pods: list[Obj]


@dataclass(frozen=True, slots=True)
class Role:
    """A part of a gang with its own size and its own pod options, which are laid over the gang's."""

    pods: int
    min_member: int | None = None  # minTaskMember of the role; None: not written
    options: PodOptions = field(default_factory=PodOptions)


def role(pods: int, *, min_member: int | None = None, **options: Unpack[PodOptions]) -> Role:
    """`world.gang("tf", roles={"ps": role(1, cpu=2), "worker": role(8, cpu=4, min_member=6)})`."""
    return Role(pods, min_member, options)


class World:
    """A growing list of Kubernetes objects. Every method returns the dicts it added, to read or to change."""

    def __init__(
        self,
        *,
        namespace: str = "default",
        scheduler: str = "volcano",
        start: datetime.datetime | None = None,  # of the clock of creation times; default: a fixed day
    ) -> None:
        self.default_namespace = namespace
        self.scheduler_name = scheduler
        self._mint = Mint(start)
        self._objects: list[Obj] = []
        self._node_count: dict[str, int] = {}
        self._classes = dict(_BUILT_IN_CLASSES)
        self._namespaces = {"default", "kube-system"}

    # ---------------------------------------------------------------- reading

    def objects(self, since: int = 0) -> list[Obj]:
        """The objects in order of arrival, from the given position on."""
        return self._objects[since:]

    def __len__(self) -> int:
        return len(self._objects)

    def of(self, kind: str) -> Iterator[Obj]:
        """The objects of one kind, in order of arrival."""
        return (obj for obj in self._objects if obj["kind"] == kind)

    def get(self, kind: str, name: str, namespace: str | None = None) -> Obj:
        """One object; KeyError names it if there is none. `namespace` is ignored for cluster-scoped kinds."""
        home = namespace or self.default_namespace
        for obj in self.of(kind):
            meta = obj["metadata"]
            if meta["name"] == name and meta.get("namespace", home) == home:
                return obj
        raise KeyError(f"the World has no {kind} {home}/{name}")

    def yaml(self) -> str:
        """The situation as a YAML stream, for `vcsched simulate --load` or `kubectl create -f`."""
        return yaml.dump_all(self._objects, Dumper=_Plain, sort_keys=False, explicit_start=True)

    # ---------------------------------------------------------------- the cluster

    def nodes(self, count: int, *, prefix: str = "n", **options: Unpack[NodeOptions]) -> list[Obj]:
        """Equal nodes `<prefix>-0`, `<prefix>-1`, …; a second call with the same prefix goes on counting."""
        first = self._node_count.get(prefix, 0)
        self._node_count[prefix] = first + count
        return self._nodes([f"{prefix}-{index}" for index in range(first, first + count)], options)

    def node(self, name: str, **options: Unpack[NodeOptions]) -> Obj:
        """One node of this very name."""
        return self._nodes([name], options)[0]

    def _nodes(self, names: Sequence[str], options: NodeOptions) -> list[Obj]:
        self._mint.tick()
        made = []
        for index, name in enumerate(names):
            labels = {"kubernetes.io/hostname": name} | fragments.deal(options.get("labels"), index)
            notes = options.get("annotations")
            node = self._object("v1", "Node", name, None, labels=labels, annotations=notes)
            node["spec"], node["status"] = fragments.node_parts(options, self._mint.stamp)
            made.append(node)
        return made

    def namespace(
        self,
        name: str,
        *,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> Obj:
        """A namespace."""
        self._namespaces.add(name)
        self._mint.tick()
        labels = {"kubernetes.io/metadata.name": name, **(labels or {})}
        made = self._object("v1", "Namespace", name, None, labels=labels, annotations=annotations)
        made |= {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
        return made

    def queue(
        self,
        name: str,
        *,
        weight: int = 1,
        capability: Mapping[str, Amount] | None = None,
        deserved: Mapping[str, Amount] | None = None,
        guarantee: Mapping[str, Amount] | None = None,
        parent: str | None = None,
        reclaimable: bool | None = None,
        priority: int | None = None,
        state: str | None = "Open",
        annotations: Mapping[str, str] | None = None,
    ) -> Obj:
        """A Queue; amounts as `{"cpu": 4, "memory": "8Gi"}`; `state=None` leaves the status empty."""
        spec: Obj = {"weight": weight}
        for key, amounts in (("capability", capability), ("deserved", deserved)):
            if amounts is not None:
                spec[key] = fragments.amounts(requests=amounts)
        if guarantee is not None:
            spec["guarantee"] = {"resource": fragments.amounts(requests=guarantee)}
        for key, value in (("parent", parent), ("reclaimable", reclaimable), ("priority", priority)):
            if value is not None:
                spec[key] = value
        self._mint.tick()
        status = {"state": state} if state else None
        return self._object(keys.SCHEDULING_API, "Queue", name, None, annotations=annotations, spec=spec, status=status)

    def priority_class(
        self, name: str, value: int, *, default: bool = False, preemption_policy: str = "PreemptLowerPriority"
    ) -> Obj:
        """A PriorityClass; pods and gangs made later with `priority_class=name` get its value."""
        self._classes[name] = value
        self._mint.tick()
        made = self._object("scheduling.k8s.io/v1", "PriorityClass", name, None)
        made |= {"value": value, "globalDefault": default, "preemptionPolicy": preemption_policy}
        return made

    def quota(self, name: str, hard: Mapping[str, Amount], *, namespace: str | None = None) -> Obj:
        """A ResourceQuota, `hard={"requests.cpu": 4, "pods": 10}`."""
        self._mint.tick()
        spec = {"hard": fragments.amounts(requests=hard)}
        return self._object("v1", "ResourceQuota", name, self._in(namespace), spec=spec)

    def disruption_budget(
        self, name: str, selector: Mapping[str, str], *, allowed: int, namespace: str | None = None
    ) -> Obj:
        """A PodDisruptionBudget over the pods with these labels that permits `allowed` disruptions now."""
        self._mint.tick()
        spec = {"maxUnavailable": allowed, "selector": {"matchLabels": dict(selector)}}
        status = {"disruptionsAllowed": allowed}
        home = self._in(namespace)
        return self._object("policy/v1", "PodDisruptionBudget", name, home, spec=spec, status=status)

    def service(self, name: str, selector: Mapping[str, str], *, namespace: str | None = None) -> Obj:
        """A Service over the pods with these labels (default spreading reads its selector)."""
        self._mint.tick()
        spec = {"selector": dict(selector), "ports": [{"port": 80, "protocol": "TCP"}]}
        return self._object("v1", "Service", name, self._in(namespace), spec=spec)

    # ---------------------------------------------------------------- work

    def gang(
        self,
        name: str,
        *,
        pods: int = 1,
        queue: str | None = "default",
        min_member: int | None = None,
        min_resources: Literal["auto"] | Mapping[str, Amount] | None = "auto",
        roles: Mapping[str, int | Role] | None = None,
        phase: str | None = None,
        on: str | Sequence[str] = (),
        group_annotations: Mapping[str, str] | None = None,
        group_labels: Mapping[str, str] | None = None,
        namespace: str | None = None,
        **options: Unpack[PodOptions],
    ) -> Gang:
        """A PodGroup and its pods `<name>-0` … (with roles `<name>-<role>-0` …, and `pods` is their sum).

        `min_member` is all pods unless given; `min_resources="auto"` is what the first `min_member` pods ask.
        `phase` is the PodGroup's. Pods run already on the nodes `on`: one name for all, or one a pod from the
        first on.
        """
        home = self._in(namespace)
        self._mint.tick()
        members: list[tuple[str, dict[str, str], PodOptions]] = []
        for role_name, part in (roles or {"": pods}).items():
            part = part if isinstance(part, Role) else Role(part)
            own: PodOptions = {**options, **part.options}
            stem = f"{name}-{role_name}" if role_name else name
            mark = {keys.TASK_SPEC: role_name} if role_name else {}
            members += [(f"{stem}-{index}", mark, own) for index in range(part.pods)]
        least = len(members) if min_member is None else min_member
        spec: Obj = {"minMember": least, "queue": queue} if queue is not None else {"minMember": least}
        minima = {key: part.min_member for key, part in (roles or {}).items() if isinstance(part, Role)}
        if any(value is not None for value in minima.values()):
            spec["minTaskMember"] = {key: value for key, value in minima.items() if value is not None}
        if priority_class := options.get("priority_class"):
            spec["priorityClassName"] = priority_class
        if min_resources == "auto":
            spec["minResources"] = fragments.total(
                fragments.amounts(own.get("cpu"), own.get("memory"), own.get("requests"))
                for _, _, own in members[: max(least, 0)]
            )
        elif min_resources is not None:
            spec["minResources"] = fragments.amounts(requests=min_resources)
        group = self._object(
            keys.SCHEDULING_API,
            "PodGroup",
            name,
            home,
            labels=group_labels,
            annotations=group_annotations,
            spec=spec,
            status={"phase": phase} if phase else None,
        )
        places = [on] * len(members) if isinstance(on, str) else [*on, *[""] * (len(members) - len(on))]
        made = [
            self._pod(member, home, own, {keys.GROUP_NAME: name} | mark, {keys.JOB_NAME: name} | mark, place)
            for (member, mark, own), place in zip(members, places, strict=False)
        ]
        return Gang(group, made)

    def running(
        self,
        name: str,
        *,
        on: str | Sequence[str],
        pods: int | None = None,
        queue: str | None = "default",
        min_member: int | None = 1,
        namespace: str | None = None,
        **options: Unpack[PodOptions],
    ) -> Gang:
        """A gang that runs already: its pods are dealt out over the nodes `on`, its phase is Running.

        Without `pods` there is one on each node.
        """
        nodes = [on] if isinstance(on, str) else list(on)
        count = len(nodes) if pods is None else pods
        return self.gang(
            name,
            pods=count,
            on=[nodes[index % len(nodes)] for index in range(count)],
            phase="Running",
            queue=queue,
            min_member=min_member,
            namespace=namespace,
            **options,
        )

    def pod(
        self,
        name: str,
        *,
        node: str = "",
        gang: str = "",
        owner: Obj | None = None,
        namespace: str | None = None,
        **options: Unpack[PodOptions],
    ) -> Obj:
        """One pod: bare or a later member of `gang`, running if `node` is given; `owner` is an object."""
        self._mint.tick()
        mark = {keys.GROUP_NAME: gang} if gang else {}
        made = self._pod(name, self._in(namespace), options, mark, {keys.JOB_NAME: gang} if gang else {}, node)
        if owner:
            made["metadata"]["ownerReferences"] = [owner_reference(owner)]
        return made

    def replica_set(
        self,
        name: str,
        replicas: int,
        *,
        make_pods: bool = True,
        namespace: str | None = None,
        **options: Unpack[PodOptions],
    ) -> Obj:
        """A ReplicaSet and, unless the simulator's stand-in is to make them, its pods `<name>-0` …"""
        home = self._in(namespace)
        self._mint.tick()
        labels = {"app": name} | dict(options.get("labels", {}))
        options["labels"] = labels
        template: Obj = {
            "metadata": {"labels": labels},
            "spec": fragments.pod_spec(options, self.scheduler_name, labels),
        }
        self._add_priority(template["spec"], options)
        template["spec"]["restartPolicy"] = "Always"
        if annotations := fragments.pod_annotations(options):
            template["metadata"]["annotations"] = annotations
        spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
        made = self._object("apps/v1", "ReplicaSet", name, home, labels={"app": name}, spec=spec)
        for index in range(replicas if make_pods else 0):
            pod = self._pod(f"{name}-{index}", home, options, {}, labels, "")
            pod["metadata"]["ownerReferences"] = [owner_reference(made)]
            pod["spec"]["restartPolicy"] = "Always"
        return made

    # ---------------------------------------------------------------- anything else

    def add(self, obj: Obj) -> Obj:
        """A raw object of any kind; uid and creation time are filled in if missing."""
        self._mint.tick()
        meta = obj["metadata"]
        if "uid" not in meta:
            meta["uid"] = self._mint.uid(obj["kind"], meta.get("namespace", ""), meta["name"])
        meta.setdefault("creationTimestamp", self._mint.stamp)
        self._objects.append(obj)
        return obj

    def remove(self, kind: str, name: str, namespace: str | None = None) -> Obj:
        """Take an object out again; an object made later under its name gets a new uid."""
        gone = self.get(kind, name, namespace)
        self._objects = [obj for obj in self._objects if obj is not gone]
        return gone

    def tick(self, seconds: float = 1) -> None:
        """Let the clock of creation times advance."""
        self._mint.tick(seconds)

    # ---------------------------------------------------------------- inside

    def _pod(
        self,
        name: str,
        namespace: str,
        options: PodOptions,
        annotations: Mapping[str, str],
        labels: Mapping[str, str],
        node: str,
    ) -> Obj:
        labels = {**labels, **options.get("labels", {})}
        spec = fragments.pod_spec(options, self.scheduler_name, labels)
        self._add_priority(spec, options)
        if node:
            spec["nodeName"] = node
        return self._object(
            "v1",
            "Pod",
            name,
            namespace,
            labels=labels,
            annotations={**annotations, **fragments.pod_annotations(options)},
            spec=spec,
            status=running_status(self._mint.stamp) if node else {"phase": "Pending"},
        )

    def _add_priority(self, spec: Obj, options: PodOptions) -> None:
        """What the API server's priority admission writes; an unknown class leaves the priority open."""
        name = options.get("priority_class", "")
        if name:
            spec["priorityClassName"] = name
        value = options.get("priority", self._classes.get(name))
        if value is not None:
            spec["priority"] = value

    def _object(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None,
        *,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        spec: Obj | None = None,
        status: Obj | None = None,
    ) -> Obj:
        metadata = self._mint.metadata(kind, name, namespace, labels, annotations)
        made: Obj = {"apiVersion": api_version, "kind": kind, "metadata": metadata}
        if spec is not None:
            made["spec"] = spec
        if status is not None:
            made["status"] = status
        self._objects.append(made)
        return made

    def _in(self, namespace: str | None) -> str:
        name = namespace or self.default_namespace
        if name not in self._namespaces:
            self.namespace(name)
        return name


class _Plain(yaml.SafeDumper):
    """Without anchors: values that happen to be shared are written out each time."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
