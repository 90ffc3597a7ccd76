"""What a person needs to understand a failing case: its situation as tables, and what went differently."""

from __future__ import annotations

import collections
import json
from collections.abc import Iterable, Mapping
from typing import Any

from .loader import Case
from .outcome import GROUP_ANNOTATION, Outcome

Object = dict[str, Any]


def report(case: Case, outcome: Outcome, lines: Iterable[str]) -> str:
    """The whole text for a failing case."""
    return "\n".join(
        [
            f"{case.family}: {case.name}",
            f"actions {' '.join(case.actions)}; tiers {tiers_line(case)}",
            *(f"  ! {line}" for line in lines),
            "",
            table("nodes", nodes(case)),
            table("queues", queues(case)),
            table("jobs (expected | actual)", jobs(case, outcome)),
            table("pods", pods(case, outcome)),
            *wishes_in_full(case, outcome),
            *(f"note: {note}" for note in outcome.notes),
        ]
    )


def table(title: str, rows: list[dict[str, str]]) -> str:
    """Rows as a text table; columns that are empty everywhere are left out."""
    columns = [name for name in (rows[0] if rows else {}) if any(row[name] for row in rows)]
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in columns}
    lines = ["  ".join(name.ljust(widths[name]) for name in columns)]
    lines += ["  ".join(row[name].ljust(widths[name]) for name in columns) for row in rows]
    return "\n".join([f"{title}:", *(f"  {line.rstrip()}" for line in lines), ""])


def tiers_line(case: Case) -> str:
    return " / ".join(" ".join(_plugin(entry) for entry in tier["plugins"]) for tier in case.tiers)


def _plugin(entry: Object) -> str:
    """The plugin's name with its arguments and the switches that are off."""
    off = [name for name, value in entry.items() if value is False and name not in USUALLY_OFF]
    on = [name for name in USUALLY_OFF if entry.get(name)]
    arguments = [f"{key}={value}" for key, value in (entry.get("arguments") or {}).items()]
    extras = [*arguments, *(f"no {name}" for name in off), *on]
    return f"{entry['name']}({', '.join(extras)})" if extras else str(entry["name"])


USUALLY_OFF = ("enableHierarchy", "enabledClusterOrder")


def nodes(case: Case) -> list[dict[str, str]]:
    rows = []
    for obj in case.of_kind("Node"):
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        placed = [_key(pod) for pod in case.of_kind("Pod") if (pod.get("spec") or {}).get("nodeName") == _key(obj)]
        taints = [f"{t.get('key')}={t.get('value', '')}:{t.get('effect')}" for t in spec.get("taints") or []]
        labels = {k: v for k, v in _labels(obj).items() if k != "kubernetes.io/hostname"}
        rows.append(
            {
                "name": _key(obj),
                "allocatable": _amounts(status.get("allocatable")),
                "cordoned": "yes" if spec.get("unschedulable") else "",
                "taints": " ".join(taints),
                "labels": _pairs(labels),
                "pods there": " ".join(placed),
            }
        )
    return rows


def queues(case: Case) -> list[dict[str, str]]:
    rows = []
    for obj in case.of_kind("Queue"):
        spec = obj.get("spec") or {}
        rows.append(
            {
                "name": _key(obj),
                "state": (obj.get("status") or {}).get("state", ""),
                "parent": spec.get("parent") or "",
                "weight": str(spec.get("weight", 0)),
                "priority": str(spec.get("priority") or ""),
                "capability": _amounts(spec.get("capability")),
                "deserved": _amounts(spec.get("deserved")),
                "guarantee": _amounts((spec.get("guarantee") or {}).get("resource")),
                "reclaimable": "no" if spec.get("reclaimable") is False else "",
                "annotations": _pairs(obj["metadata"].get("annotations") or {}),
            }
        )
    return rows


def jobs(case: Case, outcome: Outcome) -> list[dict[str, str]]:
    rows = []
    expect = case.expect
    members = collections.Counter(_job(pod) for pod in case.of_kind("Pod"))
    for obj in case.of_kind("PodGroup"):
        key, spec = _key(obj), obj.get("spec") or {}
        expected, actual = expect.get("taskCounts", {}).get(key, {}), outcome.task_counts.get(key, {})
        roles = spec.get("minTaskMember") or {}
        phases = [(obj.get("status") or {}).get("phase", "")]
        phases += [expect.get("phases", {}).get(key, "?"), outcome.phases.get(key, "-")]
        rows.append(
            {
                "name": key,
                "queue": spec.get("queue") or "default",
                "class": spec.get("priorityClassName") or "",
                "min/pods": f"{spec.get('minMember') or 0}/{members[key]}",
                "roles": _pairs(roles),
                "minResources": _amounts(spec.get("minResources")),
                "phase": f"{phases[0] or '-'}: {phases[1]} | {phases[2]}",
                "tasks": f"{_pairs(expected) or '?'} | {_pairs(actual) or '-'}",
            }
        )
    return rows


def pods(case: Case, outcome: Outcome) -> list[dict[str, str]]:
    rows = []
    expected = case.expect.get("binds")
    for obj in case.of_kind("Pod"):
        key, spec = _key(obj), obj["spec"]
        was = spec.get("nodeName") or ("gated" if spec.get("schedulingGates") else "waits")
        leaving = " (leaving)" if obj["metadata"].get("deletionTimestamp") else ""
        wanted = "?" if expected is None else expected.get(key, "")
        got = "evicted" if key in outcome.evicted else outcome.binds.get(key, "")
        rows.append(
            {
                "name": key,
                "role": (obj["metadata"].get("annotations") or {}).get("volcano.sh/task-spec", ""),
                "priority": str(spec.get("priority", "")),
                "asks": _amounts(_requests(spec)),
                "wishes": _wishes(spec),
                "was": f"{was} {(obj.get('status') or {}).get('phase', '')}{leaving}",
                "expected": "evicted" if key in case.expect.get("evicted", []) else wanted,
                "actual": got,
                "why pending": outcome.why_pending.get(key, ""),
            }
        )
    return rows


WISHES = ("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints", "schedulingGates")


def wishes_in_full(case: Case, outcome: Outcome) -> list[str]:
    """What the pods that came out differently wish, as compact JSON."""
    expected = case.expect.get("binds", {})
    lines = []
    for obj in case.of_kind("Pod"):
        wishes = {name: obj["spec"][name] for name in WISHES if obj["spec"].get(name)}
        if wishes and expected.get(_key(obj)) != outcome.binds.get(_key(obj)):
            lines.append(f"  {_key(obj)} {_pairs(_labels(obj))} {json.dumps(wishes, separators=(',', ':'))}")
    return ["wishes of the pods that differ:", *lines, ""] if lines else []


def _wishes(spec: Object) -> str:
    """Fields that restrict where the pod may go, by name."""
    ports = [str(p["hostPort"]) for c in spec.get("containers") or [] for p in c.get("ports") or [] if "hostPort" in p]
    return " ".join([name for name in WISHES if spec.get(name)] + [f"port {port}" for port in ports])


def _requests(spec: Object) -> dict[str, str]:
    """Requests of the containers, joined with + where several ask."""
    total: dict[str, str] = {}
    for container in spec.get("containers") or []:
        for name, amount in ((container.get("resources") or {}).get("requests") or {}).items():
            total[name] = f"{total[name]}+{amount}" if name in total else str(amount)
    return total


def _amounts(amounts: Mapping[str, Any] | None) -> str:
    return " ".join(f"{name} {amount}" for name, amount in (amounts or {}).items())


def _pairs(values: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in values.items())


def _labels(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def _job(pod: Object) -> str:
    group = (pod["metadata"].get("annotations") or {}).get(GROUP_ANNOTATION, "")
    return f"{pod['metadata'].get('namespace', '')}/{group}"


def _key(obj: Object) -> str:
    namespace = obj["metadata"].get("namespace")
    return f"{namespace}/{obj['metadata']['name']}" if namespace else str(obj["metadata"]["name"])
