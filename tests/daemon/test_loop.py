"""The session thread's turn: what goes wrong in one session is told, and the next one runs."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.harness import SessionWorld
from vcsched.daemon.inforce import InForce
from vcsched.daemon.loop import Loop
from vcsched.daemon.questions import Failed, Questions, ask
from vcsched.framework.registry import PluginLoadError, Registry
from vcsched.kube.link import Deleted
from vcsched.kube.objects import Queue


def loop_of(world: SessionWorld, conf: str = "", plugins: str = "", answers: Mapping[str, Any] | None = None) -> Loop:
    """A loop around the world's cache and scheduler; nothing is watched unless paths are given."""
    world.sync()
    scheduler = world.scheduler
    in_force = InForce(scheduler.registry, conf, plugins, scheduler.metrics, strict=False)
    in_force.load()
    return Loop(world.cache, scheduler, in_force, Questions(answers or {}), 0.0)


def test_a_session_that_fails_is_told_and_the_next_one_runs(
    world: SessionWorld, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world.nodes(1, cpu=2)
    world.gang("one", pods=2, cpu=1)
    loop = loop_of(world)
    with monkeypatch.context() as broken:
        broken.setattr(world.scheduler, "open_session", lambda: 1 / 0)
        loop.once()
    assert "a session failed" in caplog.text
    assert world.cache.binder.sent == 0

    loop.once()

    assert world.cache.binder.sent == 2


def test_series_of_a_queue_that_went_go_too(world: SessionWorld) -> None:
    world.nodes(1, cpu=2)
    queue = world.queue("brief")
    world.gang("one", pods=2, cpu=1, queue="brief")
    loop = loop_of(world)
    loop.once()
    assert b'queue_name="brief"' in world.scheduler.metrics.exposition()

    world.cache.link.put(Deleted(Queue, "brief", queue["metadata"]["uid"]))
    loop.once()

    assert b'queue_name="brief"' not in world.scheduler.metrics.exposition()
    assert world.cache.gone_queues == []


def test_refused_objects_are_counted_and_uncounted(world: SessionWorld) -> None:
    node = world.nodes(1, cpu="many")[0]
    loop = loop_of(world)
    loop.once()
    assert b'vcsched_refused_objects{kind="Node"} 1.0' in world.scheduler.metrics.exposition()

    node["status"]["allocatable"]["cpu"] = "4"
    world.upsert([node])
    loop.once()

    assert b'vcsched_refused_objects{kind="Node"} 0.0' in world.scheduler.metrics.exposition()


def test_a_stopped_loop_ends_its_pause(world: SessionWorld) -> None:
    world.sync()
    scheduler = world.scheduler
    in_force = InForce(scheduler.registry, "", "", scheduler.metrics, strict=False)
    loop = Loop(world.cache, scheduler, in_force, Questions({}), 3600.0)
    thread = threading.Thread(target=loop.run)
    thread.start()

    loop.stop()

    thread.join(60)
    assert not thread.is_alive()


def test_who_asks_gets_the_answer_or_why_there_is_none(world: SessionWorld, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    loop = loop_of(
        world,
        answers={
            "jobs": lambda cache, scheduler, args: [*cache.picture.jobs][: args["most"]],
            "broken": lambda cache, scheduler, args: args["nothing"],
        },
    )

    async def both() -> tuple[Any, Any]:
        first = asyncio.create_task(ask(world.cache.link, "jobs", {"most": 5}, 60))
        second = asyncio.create_task(ask(world.cache.link, "broken", {}, 60))
        await asyncio.sleep(0)
        await asyncio.to_thread(loop.once)
        return await first, await second

    assert asyncio.run(both()) == ([], Failed("KeyError: 'nothing'"))


def test_who_asks_nobody_is_not_kept_waiting(world: SessionWorld) -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(ask(world.cache.link, "jobs", {}, 0.01))


# ---------------------------------------------------------------- configuration and plugins in force

COUNTING = """
from vcsched.framework.plugin import Plugin

class Counting(Plugin):
    name = "counting"
    def open(self, ssn):
        ssn.version_of_counting = {version}

def New(arguments):
    return Counting(arguments)
"""


def test_an_edited_plugin_is_used_and_a_broken_one_is_not(
    world: SessionWorld, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plugins, conf = tmp_path / "plugins", tmp_path / "scheduler.conf"
    plugins.mkdir()
    (plugins / "counting.py").write_text(COUNTING.format(version=1))
    conf.write_text('actions: "allocate"\ntiers:\n- plugins:\n  - name: counting\n')
    registry = Registry(str(plugins))
    in_force = InForce(registry, str(conf), str(plugins), world.scheduler.metrics, strict=False)
    in_force.load()
    assert not in_force.refresh()

    (plugins / "counting.py").write_text(COUNTING.format(version=2))
    in_force.note_plugins()
    assert in_force.refresh()

    (plugins / "counting.py").write_text("def New(:")
    in_force.note_plugins()
    assert not in_force.refresh()
    assert "custom plugins stay as they were" in caplog.text


def test_plugins_that_cannot_be_loaded_at_start_are_an_error(world: SessionWorld, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("New = 7")

    with pytest.raises(PluginLoadError, match=r"bad\.py"):
        InForce(Registry(str(tmp_path)), "", str(tmp_path), world.scheduler.metrics, strict=False)


def test_a_gang_is_announced_with_the_time_of_its_creation(world: SessionWorld) -> None:
    world.gang("one", pods=2, cpu=1)
    loop = loop_of(world)

    loop.once()

    shown = world.scheduler.metrics.exposition().decode()
    assert 'volcano_e2e_job_scheduling_start_time{job_name="one",job_namespace="default",queue="default"}' in shown
