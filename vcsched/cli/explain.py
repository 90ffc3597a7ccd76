"""`vcsched explain podgroup NAMESPACE/NAME`: why a gang waits, as the running scheduler sees it.

The daemon answers between two sessions over its health address; nothing is decided here.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

import click
import yaml

TIMEOUT_S = 30.0
_FORWARD = "kubectl port-forward -n volcano-system deploy/vcsched-scheduler 11251"


@click.command(
    epilog="Example: vcsched explain podgroup research/llama --daemon http://127.0.0.1:11251",
)
@click.argument("kind", type=click.Choice(["podgroup", "pg"]))
@click.argument("name", metavar="[NAMESPACE/]NAME")
@click.option(
    "--daemon",
    default="http://127.0.0.1:11251",
    envvar="VCSCHED_DAEMON",
    show_default=True,
    help="URL of the scheduler's --healthz-address; http:// may be left out.",
)
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table")
def explain(kind: str, name: str, daemon: str, output: str) -> None:
    """Say why a PodGroup waits: its gang, the one reason, what stands against it on the nodes, its queue.

    Ends with status 0 if the scheduler knows the PodGroup, 1 if not. The scheduler must run with
    --enable-healthz; of several replicas the leader answers.
    """
    key = name if "/" in name else f"default/{name}"
    if key.count("/") != 1 or not all(key.split("/")):
        raise click.BadParameter(f"{name!r} is not NAMESPACE/NAME, for example research/llama", param_hint="NAME")
    answer = _ask(_url(daemon), key)
    if output == "json":
        click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
    elif output == "yaml":
        click.echo(yaml.safe_dump(answer, sort_keys=False, allow_unicode=True).rstrip())
    else:
        click.echo("\n".join(lines(answer)))


def _url(daemon: str) -> str:
    """The address with scheme and host: `:11251`, as the flag is written, is this machine."""
    address = f"127.0.0.1{daemon}" if daemon.startswith(":") else daemon
    return (address if "://" in address else f"http://{address}").rstrip("/")


def _ask(daemon: str, key: str) -> Any:
    """The daemon's answer. ClickException with the next step if there is none."""
    query = urllib.parse.urlencode({"kind": "podgroup", "key": key})
    try:
        with urllib.request.urlopen(f"{daemon}/explain?{query}", timeout=TIMEOUT_S) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        raise click.ClickException(error.read().decode(errors="replace").strip()) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise click.ClickException(
            f"no scheduler answers at {daemon}: {reason}; it must run with --enable-healthz; "
            f"in a cluster try {_FORWARD}, or give --daemon"
        ) from None


def lines(answer: dict[str, Any]) -> list[str]:
    """The answer as a person reads it."""
    gang = answer["gang"]
    _, _, name = answer["podGroup"].partition("/")
    head = f"{name}  queue {answer['queue']}  priority {answer['priority']}  phase {answer['phase']}"
    if answer["ageSeconds"] is not None:
        head += f"  since {_age(answer['ageSeconds'])}"
    if answer["inCacheOnly"]:
        head += "  (pods without a PodGroup object)"
    shown = [head]
    needs = f"{gang['created']:,} pods created, {gang['placed']:,} placed, needs {gang['needs']:,}"
    shown.append(_row("gang", needs + (f", {gang['gated']:,} gated" if gang["gated"] else "")))
    why = answer["why"]
    if why is not None:
        # the reasons have a line of their own
        sentence = why["sentence"].partition(" nodes: ")
        shown.append(_row("why", sentence[0] + sentence[1].rstrip(": ")))
    else:
        shown.append(_row("why", "nothing holds it back"))
    nodes = answer["nodes"]
    if why is not None and nodes is not None and nodes["reasons"]:
        shown.append(_row("", " · ".join(f"{each['nodes']:,} {each['reason']}" for each in nodes["reasons"])))
    usage = answer["queueUsage"]
    if usage is not None:
        shown.append(_row("queue", f"{answer['queue']}  weight {usage['weight']}"))
        shown += [_row("", _amount(each)) for each in usage["resources"]]
    return shown


def _row(title: str, text: str) -> str:
    return f"{title:<6} {text}"


def _amount(each: dict[str, str]) -> str:
    limits = ", ".join(f"{key} {each[key]}" for key in ("deserved", "limit") if key in each)
    return f"{each['resource']} {each['used']} used" + (f" ({limits})" if limits else "")


def _age(seconds: int) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
