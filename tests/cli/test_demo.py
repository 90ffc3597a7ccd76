"""`vcsched demo` shows the main job, and its exit status says whether it went as it should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.harness import wire
from vcsched.cli.demo.audience import Audience, Row
from vcsched.cli.demo.story import Story
from vcsched.kube.link import Deleted, Upsert
from vcsched.kube.objects import Pod

VCSCHED = str(Path(sys.executable).with_name("vcsched"))


def test_the_demo_takes_everything_with_it_when_it_is_told_to_end(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    command = [VCSCHED, "demo", "--nodes", "50"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as process:
        assert process.stdout is not None
        assert any(b"pods bound" in line for line in process.stdout)
        process.terminate()
        process.communicate(timeout=60)

    assert process.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_the_demo_places_what_fits_and_nothing_else(tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"

    done = subprocess.run(
        [VCSCHED, "demo", "--nodes", "50", "--fast", "--json", str(summary)],
        capture_output=True,
        text=True,
        check=False,
    )

    told = json.loads(summary.read_text())
    assert (done.returncode, told["ok"]) == (0, True), done.stdout + done.stderr
    sets = {each["name"]: each for each in told["sets"]}
    assert sets["limited"]["whole"] == 2
    assert "queue capped at its limit" in sets["limited"]["reason"]
    assert sets["giant"]["bound"] == 0
    assert sets["bare"]["bound"] == sets["bare"]["pods"]
    assert 1.6 < sets["train"]["bound"] / sets["crunch"]["bound"] < 2.6
    assert "vcsched explain podgroup" in done.stdout


def seen(story: Story, bound: dict[str, int]) -> dict[str, Row]:
    """The rows when so many pods of each gang have a node, and all others none."""
    audience = Audience(story)
    for obj in story.submitted:
        if obj["kind"] == "Pod":
            gang = obj["metadata"].get("annotations", {}).get("scheduling.k8s.io/group-name", "")
            node: dict[str, Any] = {}
            if bound.get(gang, 0):
                bound[gang] -= 1
                node = {"nodeName": "n-0"}
            audience.take(Upsert(wire({**obj, "spec": {**obj["spec"], **node}})))
    return {row.name: row for row in audience.rows()}


def test_a_gang_in_part_is_never_good() -> None:
    story = Story(50)
    size = story.sets["limited"].size

    good = seen(story, {"limited-0": size, "limited-3": size})["limited"]
    broken = seen(story, {"limited-0": size, "limited-1": size, "limited-2": 1})["limited"]

    assert (good.good, good.whole, good.broken) == (True, 2, 0)
    assert (broken.good, broken.whole, broken.broken) == (False, 2, 1)


def test_a_gang_that_cannot_fit_must_not_be_placed() -> None:
    assert seen(Story(50), {})["giant"].good
    assert not seen(Story(50), {"giant-0": 2})["giant"].good


def test_a_pod_that_went_is_not_counted() -> None:
    story = Story(50)
    audience = Audience(story)
    bare = next(obj for obj in story.submitted if obj["metadata"]["name"] == "bare-0")
    audience.take(Upsert(wire(bare)))

    audience.take(Deleted(Pod, "default/bare-0", bare["metadata"]["uid"]))

    assert audience.submitted == 0
