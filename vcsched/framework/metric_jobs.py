"""Metrics of jobs; a job's series go when it goes (spec 02 §20).

Two families tell jobs apart by name only. The reference lets same-named jobs of two namespaces overwrite
each other there; here `unschedule_task_count` is their sum and `job_retry_counts` counts both.
"""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Gauge

from vcsched.framework.metric_kinds import Family, FastHistogram, JobGauge, PlainCounter, buckets, milliseconds

_JOB = ("job_name", "job_namespace", "queue")


class JobMetrics:
    """How long jobs take, and what gangs lack."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.gauges: list[JobGauge] = []
        self._job_latency = FastHistogram(
            "volcano_e2e_job_scheduling_latency_milliseconds",
            "From the creation of a PodGroup to the placement of each task",
            buckets=buckets(100, 120000, 30),
            registry=registry,
        )
        self._job_duration = self._of_jobs(
            "e2e_job_scheduling_duration", "The same, for the last task of a job, in ms", *_JOB
        )
        self._job_start = self._of_jobs(
            "e2e_job_scheduling_start_time", "Creation of the PodGroup, unix seconds", *_JOB
        )
        self._job_last = self._of_jobs("e2e_job_scheduling_last_time", "Last placement of a task, unix seconds", *_JOB)
        self._job_share = self._of_jobs("job_share", "Dominant share of a job", "job_id", "job_ns")
        self._unscheduled = self._of_jobs("unschedule_task_count", "Tasks that a gang's minimum still lacks", "job_id")
        self._unscheduled_jobs = Gauge("volcano_unschedule_job_count", "Gangs below their minimum", registry=registry)
        self._retries = Family(
            PlainCounter(
                "volcano_job_retry_counts",
                "Sessions that left a gang below its minimum",
                ("job_id",),
                registry=registry,
            )
        )
        self._queue_of_job: dict[tuple[str, str], str] = {}  # (namespace, name) -> the queue in its labels
        self._lacking: dict[str, dict[str, int]] = {}  # name -> namespace -> tasks that lack

    def _of_jobs(self, name: str, help_: str, *labels: str) -> JobGauge:
        gauge = JobGauge(f"volcano_{name}", help_, *labels)
        self.gauges.append(gauge)
        return gauge

    def seen(self, namespace: str, name: str, queue: str, created_s: float) -> None:
        """A PodGroup was added or changed; `created_s` is its creation in unix seconds."""
        self._label(namespace, name, queue)
        self._job_start.set((name, namespace, queue), created_s)

    def placed(self, namespace: str, name: str, queue: str, created_s: float, now_s: float) -> None:
        """Tasks of this job were allocated or pipelined for good."""
        self._label(namespace, name, queue)
        labels = (name, namespace, queue)
        self._job_duration.set(labels, milliseconds(now_s - created_s))
        self._job_last.set(labels, now_s)

    def waited(self, created_s: Mapping[float, int], now_s: float) -> None:
        """Jobs, by when they were created, were given something in a session."""
        self._job_latency.observe_waits(created_s, now_s)

    def set_share(self, namespace: str, name: str, share: float) -> None:
        """The dominant share of a job."""
        self._job_share.set((name, namespace), share)

    def set_unscheduled(self, namespace: str, name: str, count: int) -> None:
        """How many tasks the gang lacks; 0 when it is ready."""
        if not count and name not in self._lacking:  # nothing to remember about the many that are ready
            self._unscheduled.set((name,), 0)
            return
        lacking = self._lacking.setdefault(name, {})
        lacking[namespace] = count
        self._unscheduled.set((name,), sum(lacking.values()))

    def set_unscheduled_jobs(self, count: int) -> None:
        """How many gangs a session left below their minimum."""
        self._unscheduled_jobs.set(count)

    def retried(self, name: str) -> None:
        """A session left this gang below its minimum."""
        self._retries.at(name).inc()

    def gone(self, namespace: str, name: str) -> None:
        """The job was deleted: its series go too."""
        queue = self._queue_of_job.pop((namespace, name), None)
        if queue is not None:
            self._drop(namespace, name, queue)
        self._job_share.drop(name, namespace)
        lacking = self._lacking.get(name, {})
        lacking.pop(namespace, None)
        if lacking:
            self._unscheduled.set((name,), sum(lacking.values()))
        else:
            self._lacking.pop(name, None)
            self._unscheduled.drop(name)
            self._retries.drop(name)

    def _label(self, namespace: str, name: str, queue: str) -> None:
        before = self._queue_of_job.get((namespace, name))
        if before == queue:
            return
        if before is not None:
            self._drop(namespace, name, before)
        self._queue_of_job[namespace, name] = queue

    def _drop(self, namespace: str, name: str, queue: str) -> None:
        for family in (self._job_duration, self._job_start, self._job_last):
            family.drop(name, namespace, queue)
