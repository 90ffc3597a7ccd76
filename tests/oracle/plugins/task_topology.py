"""task-topology: roles of a job that want to be together or apart (spec 07 §2)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.job import Job
from tests.oracle.node import Node
from tests.oracle.resources import Resources, fits, plus
from tests.oracle.selectors import annotation
from tests.oracle.task import Task

from .base import Plugin

PREFIX = "volcano.sh/task-topology-"
# strength of a role's strongest wish (spec 07 §2.2)
INTER_ANTI, SELF_AFFINITY, INTER_AFFINITY, SELF_ANTI = 1, 2, 3, 4


def role_of(task: Task) -> str:
    return annotation(task.pod, "volcano.sh/task-spec") or ""


@dataclass
class Wishes:
    """What the annotations of a job say."""

    self_affinity: set[str] = field(default_factory=set)
    self_anti: set[str] = field(default_factory=set)
    inter_affinity: set[tuple[str, str]] = field(default_factory=set)
    inter_anti: set[tuple[str, str]] = field(default_factory=set)
    strength: dict[str, int] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)

    def affinity(self, role: str, counts: dict[str, int], anti_only: bool = False) -> int:
        """How much a role likes to be with so many tasks of each role."""
        value = 0
        for other, count in counts.items():
            if other == role:
                likes, dislikes = role in self.self_affinity, role in self.self_anti
            else:
                likes, dislikes = (other, role) in self.inter_affinity, (other, role) in self.inter_anti
            value += count * (int(likes and not anti_only) - int(dislikes))
        return value


@dataclass
class Bucket:
    """Tasks that should share a node."""

    number: int
    counts: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, Task] = field(default_factory=dict)
    request: Resources = field(default_factory=Resources)
    size_score: float = 0.0
    on_node: dict[str, int] = field(default_factory=dict)
    placed: int = 0


@dataclass
class JobModel:
    wishes: Wishes
    buckets: list[Bucket] = field(default_factory=list)
    bucket_of: dict[str, Bucket] = field(default_factory=dict)  # task uid -> bucket
    largest: int = 0
    roles_on_node: dict[str, dict[str, int]] = field(default_factory=dict)  # placed in this session


class TaskTopology(Plugin):
    def open(self) -> None:
        self.weight = self.int_argument("task-topology.weight", 1)
        self.models: dict[str, JobModel] = {}
        for job in self.session.jobs.values():
            if job.count("Pending"):
                wishes = read_wishes(job)
                if wishes:
                    self.models[job.key] = build(job, wishes)

    def task_order(self, left: Task, right: Task) -> int:
        """Fuller buckets first, inside a bucket the ordered and stronger roles (spec 07 §2.4)."""
        left_model, right_model = self.models.get(left.job_key), self.models.get(right.job_key)
        left_bucket = left_model.bucket_of.get(left.uid) if left_model else None
        right_bucket = right_model.bucket_of.get(right.uid) if right_model else None
        if (left_bucket is None) != (right_bucket is None):
            return 1 if left_bucket is None else -1
        if left.job_key != right.job_key or left_model is None or left_bucket is None or right_bucket is None:
            return 0
        if len(left_bucket.waiting) != len(right_bucket.waiting):
            return -1 if len(left_bucket.waiting) > len(right_bucket.waiting) else 1
        if left_bucket is right_bucket:
            left_key, right_key = (rank(left_model.wishes, role_of(task)) for task in (left, right))
            return -1 if left_key < right_key else 1 if left_key > right_key else 0
        return -1 if left_bucket.number < right_bucket.number else 1

    def node_order(self, task: Task, node: Node) -> float:
        """How much of the bucket is or could be on the node (spec 07 §2.5)."""
        room = plus(node.idle, node.releasing)
        model = self.models.get(task.job_key)
        bucket = model.bucket_of.get(task.uid) if model else None
        if model is None or bucket is None or not fits(task.request, room):
            return 0.0
        dislike = model.wishes.affinity(role_of(task), model.roles_on_node.get(node.name, {}), anti_only=True)
        score = bucket.on_node.get(node.name, 0) + min(0, dislike) + len(bucket.waiting)
        request = bucket.request.clone()
        if not fits(request, room):
            for other in bucket.waiting.values():
                if other is task:
                    continue
                request.subtract(other.request)
                score -= 1
                if fits(request, room):
                    break
        return score * self.weight * 100 / model.largest if model.largest else float(score)

    def on_allocate(self, task: Task) -> None:
        """Placed tasks stay counted, also after an undo (spec 07 §2.6)."""
        model = self.models.get(task.job_key)
        if model is None:
            return
        role = role_of(task)
        if role:
            counts = model.roles_on_node.setdefault(task.node, {})
            counts[role] = counts.get(role, 0) + 1
        bucket = model.bucket_of.get(task.uid)
        if bucket:
            bucket.on_node[task.node] = bucket.on_node.get(task.node, 0) + 1
            bucket.placed += 1
            if bucket.waiting.pop(task.uid, None):
                bucket.request.subtract(task.request)


def read_wishes(job: Job) -> Wishes | None:
    """The job's annotations; None without any, or if one names an unknown role or one twice (07 §2.1)."""
    texts = [annotation(job.pod_group, PREFIX + name) for name in ("affinity", "anti-affinity", "task-order")]
    if texts == [None, None, None]:
        return None
    affinity, anti = ([group.split(",") for group in text.split(";")] if text else [] for text in texts[:2])
    order = texts[2].split(",") if texts[2] else []
    roles = {role_of(task) for task in job.tasks}
    for group in [*affinity, *anti, order]:
        named = [role for role in group if role]
        if len(set(named)) != len(named) or not set(named) <= roles:
            return None
    wishes = Wishes(order={role: len(order) - place for place, role in enumerate(order)})
    kinds = (
        (affinity, wishes.self_affinity, wishes.inter_affinity, SELF_AFFINITY, INTER_AFFINITY),
        (anti, wishes.self_anti, wishes.inter_anti, SELF_ANTI, INTER_ANTI),
    )
    for groups, alone, pairs, strength_alone, strength_pair in kinds:
        for group in groups:
            named = [role for role in group if role]
            if len(named) == 1:
                alone.add(named[0])
            strength = strength_alone if len(named) == 1 else strength_pair
            for role in named:
                wishes.strength[role] = max(wishes.strength.get(role, 0), strength)
                pairs.update((role, other) for other in named if other != role)
    return wishes


def rank(wishes: Wishes, role: str) -> tuple[int, int]:
    return (-wishes.order.get(role, 0), -wishes.strength.get(role, 0))


def build(job: Job, wishes: Wishes) -> JobModel:
    """Put the tasks of all statuses into buckets (spec 07 §2.3)."""
    model = JobModel(wishes)
    wishing = [task for task in job.tasks if wishes.strength.get(role_of(task), 0) > 0]
    placed = sorted((task for task in wishing if task.node), key=lambda task: (task.node, task.name))
    waiting = sorted(
        (task for task in wishing if not task.node),
        key=lambda task: (*rank(wishes, role_of(task)), task.name),
    )
    of_node: dict[str, Bucket] = {}
    for task in placed:
        if task.node not in of_node:
            of_node[task.node] = new_bucket(model)
        put(model, of_node[task.node], task)
    for task in waiting:
        best: Bucket | None = None
        best_value = 0
        for bucket in model.buckets:
            value = wishes.affinity(role_of(task), bucket.counts)
            if best is None or value > best_value or (value == best_value and bucket.size_score < best.size_score):
                best, best_value = bucket, value
        put(model, new_bucket(model) if best is None or best_value < 0 else best, task)
    return model


def new_bucket(model: JobModel) -> Bucket:
    model.buckets.append(Bucket(len(model.buckets)))
    return model.buckets[-1]


def put(model: JobModel, bucket: Bucket, task: Task) -> None:
    role = role_of(task)
    bucket.counts[role] = bucket.counts.get(role, 0) + 1
    model.bucket_of[task.uid] = bucket
    if task.node:
        bucket.on_node[task.node] = bucket.on_node.get(task.node, 0) + 1
        bucket.placed += 1
    else:
        bucket.waiting[task.uid] = task
        bucket.request.add(task.request)
        size = task.request
        bucket.size_score += size.cpu + size.memory / 1048576 + sum((size.scalars or {}).values())
    model.largest = max(model.largest, bucket.placed + len(bucket.waiting))
