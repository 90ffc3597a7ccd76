"""Metrics under the reference's names (spec 02 §20)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Gauge, Histogram, generate_latest

from vcsched.framework.metric_kinds import FastHistogram, JobGauge, buckets, milliseconds
from vcsched.framework.metrics import Metrics


def series(metrics: Metrics, name: str) -> dict[str, float]:
    """Labels -> value of the exposed series of this name."""
    found = {}
    for line in metrics.exposition().decode().splitlines():
        head, _, value = line.rpartition(" ")
        if head.partition("{")[0] == name:
            found[head.removeprefix(name)] = float(value)
    return found


def types(metrics: Metrics) -> dict[str, str]:
    lines = [line.split() for line in metrics.exposition().decode().splitlines()]
    return {line[2]: line[3] for line in lines if line[:2] == ["#", "TYPE"]}


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def test_every_metric_has_the_reference_s_name_and_type(metrics: Metrics) -> None:
    metrics.jobs.retried("j")
    histograms = """e2e_scheduling_latency_milliseconds open_session_duration_milliseconds
        e2e_job_scheduling_latency_milliseconds plugin_scheduling_latency_milliseconds
        action_scheduling_latency_milliseconds task_scheduling_latency_milliseconds
        scheduling_stage_duration_milliseconds"""
    gauges = """e2e_job_scheduling_duration e2e_job_scheduling_start_time e2e_job_scheduling_last_time
        pod_preemption_victims unschedule_task_count unschedule_job_count job_share namespace_share
        namespace_weight namespace_weighted_share queue_share queue_weight queue_overused"""
    gauges += "".join(
        f" queue_{family}_{unit}"
        for family in ("allocated", "request", "deserved", "inqueue", "capacity", "real_capacity")
        for unit in ("milli_cpu", "memory_bytes", "scalar_resources")
    )
    counters = """schedule_attempts_total total_preemption_attempts eviction_transactions_total
        job_retry_counts"""
    expected = (
        dict.fromkeys(histograms.split(), "histogram")
        | dict.fromkeys(gauges.split(), "gauge")
        | dict.fromkeys(counters.split(), "counter")
    )
    exposed = types(metrics)
    own = {name.removeprefix("volcano_"): kind for name, kind in exposed.items() if name.startswith("volcano_")}
    assert own == expected
    assert exposed["process_cpu_seconds_total"] == "counter"


def test_buckets_grow_by_one_ratio_from_low_to_high() -> None:
    bounds = buckets(1, 5000, 20)
    assert len(bounds) == 20
    assert bounds[0] == 1
    assert bounds[-1] == pytest.approx(5000)
    assert bounds[5] == pytest.approx(5000 ** (5 / 19))


def test_durations_are_given_in_seconds_and_exposed_in_milliseconds(metrics: Metrics) -> None:
    metrics.observe_action("allocate", 0.25)
    metrics.observe_action("allocate", -5)
    name = "volcano_action_scheduling_latency_milliseconds"
    assert series(metrics, f"{name}_sum") == {'{action="allocate"}': 250.0}
    assert series(metrics, f"{name}_count") == {'{action="allocate"}': 2.0}
    assert len(series(metrics, f"{name}_bucket")) == 21


def test_the_stages_of_plugins_and_tasks_are_labels(metrics: Metrics) -> None:
    metrics.observe_cycle(1)
    metrics.observe_open(1)
    metrics.observe_plugin("gang", "OnSessionOpen", 0.001)
    metrics.observe_task("Assumed", 1)
    metrics.observe_stage("Predicate", 0.001)
    count = {
        "e2e_scheduling_latency_milliseconds": "",
        "open_session_duration_milliseconds": "",
        "plugin_scheduling_latency_milliseconds": '{OnSession="OnSessionOpen",plugin="gang"}',
        "task_scheduling_latency_milliseconds": '{stage="Assumed"}',
        "scheduling_stage_duration_milliseconds": '{stage="Predicate"}',
    }
    for name, labels in count.items():
        assert series(metrics, f"volcano_{name}_count") == {labels: 1.0}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 7000) | st.sampled_from([1.0, 5000.0]), st.integers(1, 5)), max_size=8))
def test_values_observed_at_once_count_as_the_library_counts_them(seen: list[tuple[float, int]]) -> None:
    ours = FastHistogram("ours", "", buckets=buckets(1, 5000, 20), registry=None)
    library = Histogram("library", "", buckets=buckets(1, 5000, 20), registry=None)
    for value, count in seen:
        ours.observe_many(value, count)
        for _ in range(count):
            library.observe(value)
    got, expected = ([s.value for m in h.collect() for s in m.samples] for h in (ours, library))
    assert got == pytest.approx(expected)


texts = st.text(st.sampled_from('ab-"\\\n é{},='), max_size=4)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.tuples(texts, texts), st.floats(width=32) | st.integers(0, 10**12)))
def test_the_gauges_of_jobs_are_written_as_the_library_writes_them(values: dict[tuple[str, str], float]) -> None:
    ours = JobGauge("ours", "What it is", "id", "queue")
    library = Gauge("ours", "What it is", ("id", "queue"), registry=(registry := CollectorRegistry()))
    for labels, value in values.items():
        ours.set(labels, value)
        library.labels(*labels).set(value)
    assert ours.text() == generate_latest(registry).decode()


def test_waits_are_observed_as_the_library_would_one_by_one() -> None:
    ours = FastHistogram("ours", "", buckets=buckets(50, 60000, 30), registry=None)
    library = Histogram("library", "", buckets=buckets(50, 60000, 30), registry=None)
    since = {100.0: 2, 99.9: 1, 3.0: 4, 101.0: 1, 102.0: 3}  # two of them later than now: clocks differ
    ours.observe_waits(since, 100.0)
    for at, count in since.items():
        for _ in range(count):
            library.observe(milliseconds(100.0 - at))
    got, expected = ([s.value for m in h.collect() for s in m.samples] for h in (ours, library))
    assert got == pytest.approx(expected)


def test_several_that_waited_as_long_are_one_call(metrics: Metrics) -> None:
    metrics.observe_task("Bound", 2, tasks=3)
    metrics.jobs.placed("n", "j", "q", 0.0, 2.0)
    metrics.jobs.waited({0.0: 3}, 2.0)
    assert series(metrics, "volcano_task_scheduling_latency_milliseconds_sum") == {'{stage="Bound"}': 6000.0}
    assert series(metrics, "volcano_e2e_job_scheduling_latency_milliseconds_sum") == {"": 6000.0}
    (duration,) = series(metrics, "volcano_e2e_job_scheduling_duration").values()
    assert duration == 2000.0


def test_only_the_evicting_actions_count_transactions(metrics: Metrics) -> None:
    for action in ("preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle", "preempt"):
        metrics.eviction_committed(action)
    assert series(metrics, "volcano_eviction_transactions_total") == {
        '{action="preempt"}': 2.0,
        '{action="reclaim"}': 1.0,
        '{action="gangpreempt"}': 1.0,
        '{action="gangreclaim"}': 1.0,
    }


def test_preemption_counts_its_tries_and_shows_the_last_victims(metrics: Metrics) -> None:
    metrics.preemption_tried(3)
    metrics.preemption_tried(1)
    metrics.count_attempt("unschedulable")
    assert series(metrics, "volcano_total_preemption_attempts") == {"": 2.0}
    assert series(metrics, "volcano_pod_preemption_victims") == {"": 1.0}
    assert series(metrics, "volcano_schedule_attempts_total") == {'{result="unschedulable"}': 1.0}


JOB_FAMILIES = (
    "e2e_job_scheduling_duration",
    "e2e_job_scheduling_start_time",
    "e2e_job_scheduling_last_time",
    "job_share",
    "unschedule_task_count",
    "job_retry_counts",
)


def job_of(metrics: Metrics, namespace: str, name: str, queue: str) -> None:
    metrics.jobs.seen(namespace, name, queue, 100.0)
    metrics.jobs.placed(namespace, name, queue, 100.0, 102.5)
    metrics.jobs.set_share(namespace, name, 0.5)
    metrics.jobs.set_unscheduled(namespace, name, 3)
    metrics.jobs.retried(name)


def test_a_job_shows_when_it_began_and_how_long_it_took(metrics: Metrics) -> None:
    job_of(metrics, "n", "j", "q")
    labels = '{job_name="j",job_namespace="n",queue="q"}'
    assert series(metrics, "volcano_e2e_job_scheduling_duration") == {labels: 2500.0}
    assert series(metrics, "volcano_e2e_job_scheduling_start_time") == {labels: 100.0}
    assert series(metrics, "volcano_e2e_job_scheduling_last_time") == {labels: 102.5}
    assert series(metrics, "volcano_job_share") == {'{job_id="j",job_ns="n"}': 0.5}
    assert series(metrics, "volcano_job_retry_counts") == {'{job_id="j"}': 1.0}


def test_the_series_of_a_deleted_job_go_with_it(metrics: Metrics) -> None:
    job_of(metrics, "n", "j", "q")
    metrics.jobs.gone("n", "j")
    for family in JOB_FAMILIES:
        assert series(metrics, f"volcano_{family}") == {}
    metrics.jobs.gone("n", "never seen")


def test_a_job_that_changes_its_queue_leaves_no_series_behind(metrics: Metrics) -> None:
    job_of(metrics, "n", "j", "q")
    metrics.jobs.seen("n", "j", "other", 100.0)
    (labels,) = series(metrics, "volcano_e2e_job_scheduling_start_time")
    assert 'queue="other"' in labels
    assert series(metrics, "volcano_e2e_job_scheduling_duration") == {}


def test_jobs_of_one_name_are_summed_where_the_namespace_is_no_label(metrics: Metrics) -> None:
    metrics.jobs.set_unscheduled("a", "j", 3)
    metrics.jobs.set_unscheduled("b", "j", 4)
    metrics.jobs.retried("j")
    assert series(metrics, "volcano_unschedule_task_count") == {'{job_id="j"}': 7.0}
    metrics.jobs.gone("a", "j")
    assert series(metrics, "volcano_unschedule_task_count") == {'{job_id="j"}': 4.0}
    assert series(metrics, "volcano_job_retry_counts") == {'{job_id="j"}': 1.0}
    metrics.jobs.gone("b", "j")
    assert series(metrics, "volcano_unschedule_task_count") == {}


def scalars(metrics: Metrics, family: str) -> list[float]:
    return list(series(metrics, f"volcano_queue_{family}_scalar_resources").values())


def test_a_scalar_that_an_update_does_not_name_becomes_0(metrics: Metrics) -> None:
    def update(amounts: dict[str, float]) -> list[float]:
        metrics.queues.set_amounts("allocated", "q", 1000, 4096, amounts)
        return sorted(scalars(metrics, "allocated"))

    assert update({"nvidia.com/gpu": 5, "amd.com/gpu": 10}) == [5, 10]
    assert update({"nvidia.com/gpu": 3}) == [0, 3]
    assert update({}) == [0, 0]
    metrics.queues.set_amounts("request", "q", 1, 1, {})
    assert scalars(metrics, "request") == [0, 0]
    metrics.queues.gone("q")
    assert scalars(metrics, "allocated") == scalars(metrics, "request") == []
    assert update({}) == []


def test_the_series_of_a_deleted_queue_go_and_others_stay(metrics: Metrics) -> None:
    for queue in ("q", "other"):
        metrics.queues.set_amounts("deserved", queue, 1500, 4096, {"pods": 1})
        metrics.queues.set_share(queue, 0.25)
        metrics.queues.set_weight(queue, 2)
        metrics.queues.set_overused(queue, True)
    metrics.queues.gone("q")
    for name, value in {
        "deserved_milli_cpu": 1500.0,
        "deserved_memory_bytes": 4096.0,
        "share": 0.25,
        "weight": 2.0,
        "overused": 1.0,
    }.items():
        assert series(metrics, f"volcano_queue_{name}") == {'{queue_name="other"}': value}


def test_our_own_metrics_show_configuration_and_refused_objects(metrics: Metrics) -> None:
    assert series(metrics, "vcsched_configuration_valid") == {"": 1.0}
    metrics.set_configuration_valid(False)
    metrics.set_refused_objects("PodGroup", 2)
    assert series(metrics, "vcsched_configuration_valid") == {"": 0.0}
    assert series(metrics, "vcsched_refused_objects") == {'{kind="PodGroup"}': 2.0}
