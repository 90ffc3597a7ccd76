"""The dump of the picture: six documents under the reference's names, ours behind them (spec 02 §19)."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.harness import SessionWorld
from vcsched.cache.dumper import dump_json, dump_log

NODE_FIELDS = """Name Node State Releasing Pipelined Idle Used Allocatable Capacity ResourceUsage Tasks NumaInfo
    UnassignedNumaPods NumaSchedulerInfo RevocableZone Others OversubscriptionNode OfflineJobEvicting
    OversubscriptionResource ImageStates Generation BindGeneration"""
TASK_FIELDS = """UID Job Name Namespace TaskRole Resreq InitResreq DRAResreq ResourceClaimKeys
    ResourceClaimDRAResreq NodeName EvictionOccurred JobAllocatedHyperNode Status LastTransaction Priority
    VolumeReady Preemptable BestEffort HasRestartableInitContainer SchGated RevocableZone NumaInfo Pod
    PodAnnotations CustomBindErrHandlerSucceeded"""
JOB_FIELDS = """UID PgUID Name Namespace Queue Priority MinAvailable WaitingTime JobFitErrors NodesFitErrors
    AllocatedHyperNode NetworkTopology SubJobs TaskToSubJob MinSubJobs TaskStatusIndex Tasks TaskMinAvailable
    TaskMinAvailableTotal Allocated TotalRequest CreationTimestamp PodGroup ScheduleStartTimestamp Preemptable
    RevocableZone Budget"""


@pytest.fixture
def world() -> SessionWorld:
    """A gang that runs, one that cannot, a job without a queue, a pod whose node has not come."""
    world = SessionWorld()
    more = {"volcano.sh/oversubscription-cpu": "500"}
    world.nodes(2, cpu=4, memory="8Gi", resources={"ephemeral-storage": "1Mi"}, annotations=more)
    world.queue("research", weight=2, capability={"cpu": 8})
    world.gang("fits", pods=2, cpu=1, requests={"ephemeral-storage": "1Ki"}, queue="research")
    world.gang("too-big", pods=3, cpu=3)
    world.gang("lost", queue="nowhere")
    world.pod("stray", node="elsewhere", cpu=1)
    world.session()
    return world


def documents(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_six_documents_of_the_reference_stand_first_one_a_line(world: SessionWorld, tmp_path: Path) -> None:
    path = dump_json(world.cache, tmp_path)

    assert path.name == f"snapshot-{int(world.now)}.json"
    nodes, by_tier, tiers, real, hypernodes, jobs, _ = documents(path)
    assert sorted(nodes) == ["n-0", "n-1"]
    assert (by_tier, tiers, real, hypernodes) == ({}, {}, {}, {})
    assert set(jobs) == set(world.cache.picture.attached)
    assert {"default/fits", "default/too-big"} < set(jobs)


def test_nodes_jobs_and_tasks_have_the_field_names_of_the_reference(world: SessionWorld, tmp_path: Path) -> None:
    nodes, *_, jobs, _ = documents(dump_json(world.cache, tmp_path))

    job = jobs["default/fits"]
    assert set(nodes["n-0"]) == set(NODE_FIELDS.split())
    assert set(job) == set(JOB_FIELDS.split())
    for task in job["Tasks"].values():
        assert set(task) == set(TASK_FIELDS.split())
        assert task["Status"] == 8
    assert job["TaskStatusIndex"] == {"8": {uid: {} for uid in job["Tasks"]}}


def test_amounts_are_in_the_units_of_the_reference(world: SessionWorld, tmp_path: Path) -> None:
    nodes, *_, jobs, _ = documents(dump_json(world.cache, tmp_path))

    assert nodes["n-0"]["Allocatable"]["MilliCPU"] == 4500
    assert nodes["n-0"]["Capacity"]["MilliCPU"] == 4500
    assert nodes["n-0"]["OversubscriptionResource"]["MilliCPU"] == 500
    assert jobs["default/fits"]["Allocated"] == {
        "MilliCPU": 2000.0, "Memory": 0.0, "MaxTaskNum": 2,
        "ScalarResources": {"ephemeral-storage": 2 * 1024 * 1000.0, "pods": 2.0},
    }  # fmt: skip


def test_the_seventh_document_shows_what_takes_no_part(world: SessionWorld, tmp_path: Path) -> None:
    more = documents(dump_json(world.cache, tmp_path))[6]

    assert "default/lost" in more["JobsWithoutQueueOrPodGroup"]
    assert more["NodesNotSeen"] == {"elsewhere": {"default/stray": {}}}
    assert more["Queues"]["research"]["Alloc"]["MilliCPU"] == 2000
    assert more["WaitingJobs"]["default/too-big"]["Refusal"]["Stage"]
    assert more["WritesInFlight"]["Tasks"]["default/fits-0"]["Status"] == "Binding"
    assert more["WritesInFlight"]["Count"] == world.cache.writes_in_flight > 0


def test_a_refused_object_is_shown_with_its_reason(world: SessionWorld, tmp_path: Path) -> None:
    bad = world.node("bad", cpu=1)
    bad["status"]["allocatable"]["cpu"] = "many"
    world.session()

    more = documents(dump_json(world.cache, tmp_path))[6]
    assert "'many' is not a quantity" in more["Refused"]["Node"]["bad"]


def test_only_the_owner_may_read_the_file_and_it_replaces_an_older_one(world: SessionWorld, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("untouched")
    (tmp_path / f"snapshot-{int(world.now)}.json").symlink_to(target)

    path = dump_json(world.cache, tmp_path)

    assert path.stat().st_mode & 0o777 == 0o600
    assert not path.is_symlink()
    assert target.read_text() == "untouched"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["elsewhere", path.name]


def test_a_copy_of_the_object_in_an_annotation_is_left_out(world: SessionWorld, tmp_path: Path) -> None:
    secret = {"kubectl.kubernetes.io/last-applied-configuration": '{"env":"s3cr3t"}'}
    world.pod("applied", cpu=1, annotations=secret)
    world.gang("applied-gang", group_annotations=secret)
    world.session()

    path = dump_json(world.cache, tmp_path)
    assert "applied-gang" in path.read_text()
    assert "s3cr3t" not in path.read_text()


def test_angle_brackets_are_escaped_and_keys_sorted(world: SessionWorld, tmp_path: Path) -> None:
    world.pod("tagged", cpu=1, annotations={"note": "<a & b>"})
    world.session()

    lines = dump_json(world.cache, tmp_path).read_text().splitlines()
    assert r"\u003ca \u0026 b\u003e" in lines[5]
    assert "<a" not in lines[5]
    for line in lines:
        json.loads(line, object_pairs_hook=assert_sorted)


def assert_sorted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    assert keys == sorted(keys)
    return dict(pairs)


def test_a_directory_that_cannot_be_written_leaves_nothing_behind(world: SessionWorld, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        dump_json(world.cache, tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


def test_the_log_gets_a_text_a_node_and_a_job(world: SessionWorld, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="vcsched.cache.dumper"):
        dump_log(world.cache)

    said = [record.getMessage() for record in caplog.records]
    assert said[0] == "Dump of nodes info in scheduler cache"
    assert said[1].startswith("Node (n-0): allocatable<cpu 4500.00, memory 8589934592.00, ")
    assert "Dump of jobs info in scheduler cache" in said
    assert "Dump of hyperNodes info in scheduler cache" in said
    fits = next(text for text in said if text.startswith("Job (default/fits)"))
    assert "status Binding, node n-" in fits
    assert any("Job (default/lost): queue nowhere (takes no part)" in text for text in said)
    assert "2 nodes, 2 queues" in said[-1]
