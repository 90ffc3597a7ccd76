"""Every metric under the reference's name, labels and buckets, and a few of our own (spec 02 §20).

One `Metrics` object is made by the daemon and handed on; there are no module globals, so that tests and
several schedulers in a process do not meet. Durations are given in seconds and exposed in milliseconds, as
the names say; a negative duration (clocks differ) counts as 0. Jobs and queues have classes of their own,
since their series go when they go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge

from vcsched.framework.metric_jobs import JobMetrics
from vcsched.framework.metric_kinds import (
    Family,
    FastHistogram,
    PlainCounter,
    buckets,
    exposition,
    milliseconds,
)
from vcsched.framework.metric_queues import QueueMetrics

PluginStage = Literal["OnSessionOpen", "OnSessionClose"]
TaskStage = Literal["Watched", "Assumed", "PreBound", "Bound"]
WorkStage = Literal["Predicate", "Scoring", "PreBind", "Bind"]

_EVICTING = ("preempt", "reclaim", "gangpreempt", "gangreclaim")
_PLAIN = ("volcano_total_preemption_attempts", "volcano_job_retry_counts")


class Metrics:
    """The daemon's metrics. Cheap enough to be called for every task."""

    def __init__(self) -> None:
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry(auto_describe=False)
        prometheus_client.ProcessCollector(registry=self.registry)
        prometheus_client.GCCollector(registry=self.registry)
        prometheus_client.PlatformCollector(registry=self.registry)
        self._sessions()
        self._attempts()
        self._own()
        self.jobs = JobMetrics(self.registry)
        self.queues = QueueMetrics(self.registry)

    def exposition(self) -> bytes:
        """What `/metrics` answers, in the Prometheus text format."""
        return exposition(self.registry, _PLAIN, self.jobs.gauges)

    # -- declarations

    def _histogram(self, name: str, help_: str, bounds: tuple[float, float, int], *labels: str) -> FastHistogram:
        name = f"volcano_{name}"
        return FastHistogram(name, help_, labels, buckets=buckets(*bounds), registry=self.registry)

    def _sessions(self) -> None:
        self._cycle = self._histogram(
            "e2e_scheduling_latency_milliseconds", "A whole session, open to close", (1, 5000, 20)
        )
        self._open = self._histogram(
            "open_session_duration_milliseconds", "Opening a session, plugins included", (1, 5000, 20)
        )
        self._plugin = Family(
            self._histogram(
                "plugin_scheduling_latency_milliseconds",
                "A plugin's part in a session",
                (0.1, 100, 15),
                "plugin",
                "OnSession",
            )
        )
        self._action = Family(
            self._histogram(
                "action_scheduling_latency_milliseconds", "One action of a session", (1, 2000, 20), "action"
            )
        )
        self._task = Family(
            self._histogram(
                "task_scheduling_latency_milliseconds",
                "From the creation of a pod to a stage of its scheduling",
                (50, 60000, 30),
                "stage",
            )
        )
        self._stage = Family(
            self._histogram("scheduling_stage_duration_milliseconds", "One step of the work", (0.1, 500, 20), "stage")
        )

    def _attempts(self) -> None:
        self._attempt = Family(
            Counter(
                "volcano_schedule_attempts_total",
                "Tries to schedule a pod, by result",
                ("result",),
                registry=self.registry,
            )
        )
        self._victims = Gauge(
            "volcano_pod_preemption_victims",
            "Victims that the plugins allow on the node examined last",
            registry=self.registry,
        )
        self._preemptions = PlainCounter(
            "volcano_total_preemption_attempts", "Nodes tried for preemption", registry=self.registry
        )
        self._evictions = Family(
            Counter(
                "volcano_eviction_transactions_total",
                "Commits with at least one eviction",
                ("action",),
                registry=self.registry,
            )
        )

    def _own(self) -> None:
        self._gangs = Family(
            Counter(
                "vcsched_gangs_evicted_total",
                "Gangs evicted whole, because without one of their pods they would have been of no use",
                ("action",),
                registry=self.registry,
            )
        )
        self._valid = Gauge(
            "vcsched_configuration_valid",
            "0 while the configuration file cannot be put in force",
            registry=self.registry,
        )
        self._valid.set(1)
        self._refused = Family(
            Gauge(
                "vcsched_refused_objects",
                "Objects of the API server that cannot be read or used",
                ("kind",),
                registry=self.registry,
            )
        )

    # -- sessions

    def observe_cycle(self, seconds: float) -> None:
        """A session ended, status writes handed over."""
        self._cycle.observe(milliseconds(seconds))

    def observe_open(self, seconds: float) -> None:
        """All plugins have opened the session."""
        self._open.observe(milliseconds(seconds))

    def observe_plugin(self, plugin: str, stage: PluginStage, seconds: float) -> None:
        """A plugin's open or close hook returned."""
        self._plugin.at(plugin, stage).observe(milliseconds(seconds))

    def observe_action(self, action: str, seconds: float) -> None:
        """An action returned."""
        self._action.at(action).observe(milliseconds(seconds))

    def observe_stage(self, stage: WorkStage, seconds: float) -> None:
        """A filter or scoring pass of a task, a pre-binder or a bind took so long."""
        self._stage.at(stage).observe_many(milliseconds(seconds), 1)

    def observe_task(self, stage: TaskStage, seconds: float, tasks: int = 1) -> None:
        """So many tasks reached a stage so long after their pods were created."""
        self._task.at(stage).observe_many(milliseconds(seconds), tasks)

    def observe_tasks(self, stage: TaskStage, created_s: Mapping[float, int], now_s: float) -> None:
        """Tasks, by when their pods were created, reached a stage."""
        if created_s:
            self._task.at(stage).observe_waits(created_s, now_s)

    # -- attempts and evictions

    def count_attempt(self, result: Literal["scheduled", "unschedulable", "error"]) -> None:
        """A task was tried in a session, with this result."""
        self._attempt.at(result).inc()

    def preemption_tried(self, victims: int) -> None:
        """A node was examined for preemption; so many victims would be allowed there."""
        self._victims.set(victims)
        self._preemptions.inc()

    def eviction_committed(self, action: str) -> None:
        """A statement with evictions was committed; other actions than the evicting four are not counted."""
        if action in _EVICTING:
            self._evictions.at(action).inc()

    # -- ours

    def gang_evicted(self, action: str) -> None:
        """A gang was evicted whole."""
        self._gangs.at(action).inc()

    def set_configuration_valid(self, valid: bool) -> None:
        """Whether the configuration file is the one in force."""
        self._valid.set(valid)

    def set_refused_objects(self, kind: str, count: int) -> None:
        """How many objects of a kind are refused at present."""
        self._refused.at(kind).set(count)
