"""Run a case through the oracle; compare case files from the command line.

    python -m tests.oracle.run FILE...                  compare with `expect` over 3 seeds
    python -m tests.oracle.run -v -c 'gang 1-00' FILE   show the differences of cases with this in their name
    python -m tests.oracle.run -s 20 -o OUT FILE        write {case name: [distinct outcomes]} as JSON
    python -m tests.oracle.run -s 20 -r RES FILE        check results {case name: {binds, …}}, in the form of
                                                        `expect`: good if some seed gives them

"some seeds" in the output means that the expectation holds for some free choices only.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.cases.compare import differences
from tests.cases.loader import read_file
from tests.cases.outcome import Outcome, binds_per_job

from .actions import ACTIONS
from .choices import Choices
from .close import close
from .resources import lacking
from .search import CODE_NAMES, ERROR, scores
from .selectors import Object
from .session import Session


def run(
    case: Mapping[str, Any],
    tiers: list[Object],
    seed: int = 0,
    guide: Mapping[str, str] | None = None,
    unknown_phase: bool = False,
    mended: bool = False,
) -> Outcome:
    """One session of a case; `guide` as in Choices, `unknown_phase` as in close, `mended` as in Session."""
    outcome = Outcome()
    if case.get("probe"):
        outcome.scores, outcome.unfit = probe(Session(case, tiers, Choices(seed), mended))
    session = Session(case, tiers, Choices(seed, guide), mended)
    for name in case["actions"]:
        if name not in ACTIONS:
            raise NotImplementedError(f"action {name}")
        ACTIONS[name](session)
    for job in session.jobs.values():
        outcome.task_counts[job.key] = dict(collections.Counter(task.status for task in job.tasks))
        pipelined = sorted(task.node for task in job.tasks if task.status == "Pipelined")
        if pipelined:
            outcome.pipelined[job.key] = pipelined
        for task in job.tasks:
            if task.status in ("Allocated", "Pipelined"):
                outcome.placements[task.key] = task.node
            if task.status == "Pending":
                errors = job.fit_errors.get(task.uid, {})
                outcome.why_pending[task.key] = summary(errors, job.phase)
    close(session, unknown_phase)
    outcome.binds, outcome.evicted = dict(session.binds), sorted(session.evictions)
    outcome.placements.update(outcome.binds)
    outcome.phases = {job.key: job.phase for job in session.jobs.values()}
    outcome.allocated_hyper_node = {job.key: job.allocated_hyper_node for job in session.jobs.values()}
    holders = collections.Counter(session.topology.holder(node) for node in session.binds.values())
    outcome.binds_per_hyper_node = sorted(count for name, count in holders.items() if name)
    outcome.binds_per_job = binds_per_job(case["objects"], outcome.binds)
    outcome.ties = len(session.choices.ties)
    outcome.warnings = list(dict.fromkeys(session.warnings))
    return outcome


def probe(session: Session) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, list[Any]]]]:
    """Filter and score every waiting task before any action: its scores, and why nodes do not pass."""
    points: dict[str, dict[str, float]] = {}
    unfit: dict[str, dict[str, list[Any]]] = {}
    for task in session.tasks:
        if task.status != "Pending" or task.job_key not in session.jobs:
            continue
        impossible = session.pre_predicate(task)
        passing = []
        for name in session.order:
            node = session.nodes[name]
            if lacking(task.request, node.future_idle()):
                unfit.setdefault(task.key, {})[name] = ["resources"]
                continue
            reasons = [(ERROR, impossible)] if impossible else session.predicate(task, node)
            if reasons:
                unfit.setdefault(task.key, {})[name] = [[CODE_NAMES[code], text] for code, text in reasons]
            else:
                passing.append(name)
        if passing:
            points[task.key] = scores(session, task, passing)
    return points, unfit


def summary(errors: Mapping[str, Iterable[tuple[int, str]]], phase: str) -> str:
    """Why a task is pending, for a person."""
    if phase in ("", "Pending"):
        return "job not admitted"
    counts = collections.Counter(text for reasons in errors.values() for _, text in reasons)
    return ", ".join(f"{count} × {text}" for text, count in counts.most_common()) or "not reached"


def permitted(case: Mapping[str, Any], tiers: list[Object], seeds: int) -> list[Outcome]:
    """The distinct outcomes over some seeds."""
    outcomes: list[Outcome] = []
    for seed in range(seeds):
        outcome = run(case, tiers, seed)
        if outcome not in outcomes:
            outcomes.append(outcome)
    return outcomes


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-s", dest="seeds", type=int, default=3, help="number of seeds")
    parser.add_argument("-v", dest="verbose", action="store_true", help="print the differences")
    parser.add_argument("-c", dest="containing", default="", help="only cases whose name contains this")
    parser.add_argument("-o", dest="out", type=Path, metavar="OUT")
    parser.add_argument("-r", dest="results", type=Path, metavar="RES")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    theirs = json.loads(options.results.read_text()) if options.results else None
    dump: dict[str, list[dict[str, Any]]] = {}
    failed = 0
    for path in options.files:
        counts: collections.Counter[str] = collections.Counter()
        for case in read_file(path):
            if options.containing not in case.name:
                continue
            expect = case.expect if theirs is None else theirs.get(case.name, {})
            results: list[list[str]] = []
            for seed in range(options.seeds):
                try:
                    outcome = run(case.data, case.tiers, seed)
                except Exception:
                    counts["exceptions"] += 1
                    results.append([traceback.format_exc(limit=-3)])
                    continue
                results.append(differences(expect, outcome))
                plain = dataclasses.asdict(outcome)
                if options.out and plain not in dump.setdefault(case.name, []):
                    dump[case.name].append(plain)
            agreeing = sum(not result for result in results)
            verdict = "fail" if not agreeing else "pass" if agreeing == len(results) or theirs else "some seeds"
            counts[verdict] += 1
            if options.verbose and verdict != "pass":
                print(f"{verdict.upper()} {case.name}  ({agreeing} of {len(results)} seeds agree)")
                for line in next(result for result in results if result)[:14]:
                    print("     ", line)
        failed += counts["fail"]
        total = counts["pass"] + counts["some seeds"] + counts["fail"]
        print(
            f"{path.parent.name + '/' + path.name:<50} pass {counts['pass']}, "
            f"some seeds {counts['some seeds']}, "
            f"fail {counts['fail']} (exceptions {counts['exceptions']}) of {total}",
            flush=True,
        )
    if options.out:
        options.out.write_text(json.dumps(dump, indent=1, sort_keys=True))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
