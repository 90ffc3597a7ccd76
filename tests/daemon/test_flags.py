"""The command line of the daemon (spec 02 §1)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from vcsched.daemon import flags
from vcsched.daemon.flags import Options, doubts, election_problem, parse_options, read_options
from vcsched.daemon.flagset import FlagError, HelpWanted


def options(*arguments: str) -> Options:
    return parse_options(arguments)[0]


def test_without_flags_everything_has_the_reference_s_default() -> None:
    assert dataclasses.asdict(options()) == {
        "master": "",
        "kubeconfig": "",
        "kube_api_qps": 2000.0,
        "kube_api_burst": 2000,
        "ca_cert_file": "",
        "tls_cert_file": "",
        "tls_private_key_file": "",
        "lock_object_namespace": "",
        "scheduler_name": ("volcano",),
        "scheduler_conf": "",
        "schedule_period": 1.0,
        "resync_period": 0.0,
        "default_queue": "default",
        "version": False,
        "listen_address": ":8080",
        "healthz_address": ":11251",
        "enable_healthz": False,
        "enable_metrics": False,
        "enable_pprof": False,
        "priority_class": True,
        "csi_storage": True,
        "minimum_feasible_nodes": 100,
        "minimum_percentage_nodes_to_find": 5,
        "percentage_nodes_to_find": 0,
        "plugins_dir": "",
        "node_selector": (),
        "cache_dumper": True,
        "cache_dump_dir": "/tmp",
        "node_worker_threads": 20,
        "gate_removal_worker_num": 5,
        "ignored_provisioners": (),
        "resource_sync_timeout": 60.0,
        "disable_default_scheduler_config": False,
        "scheduler_sharding_mode": "none",
        "scheduler_sharding_name": "volcano",
        "feature_gates": (),
        "leader_elect": True,
        "leader_elect_lease_duration": 15.0,
        "leader_elect_renew_deadline": 10.0,
        "leader_elect_retry_period": 2.0,
        "leader_elect_resource_lock": "leases",
        "leader_elect_resource_name": "volcano",
        "leader_elect_resource_namespace": "volcano-system",
        "v": 0,
        "seed": 0,
    }


def test_given_flags_change_their_values_and_nothing_else() -> None:
    given = options(
        "--schedule-period=5m",
        "--priority-class=false",
        "--cache-dumper=false",
        "--leader-elect-lease-duration=60s",
        "--leader-elect-renew-deadline=20s",
        "--leader-elect-retry-period=10s",
        "--feature-gates=PodDisruptionBudgetsSupport=false,VolcanoJobSupport=true",
    )
    assert given == dataclasses.replace(
        options(),
        schedule_period=300.0,
        priority_class=False,
        cache_dumper=False,
        leader_elect_lease_duration=60.0,
        leader_elect_renew_deadline=20.0,
        leader_elect_retry_period=10.0,
        feature_gates=(("PodDisruptionBudgetsSupport", False), ("VolcanoJobSupport", True)),
    )


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        (["--scheduler-conf", "/a"], "scheduler_conf", "/a"),
        (["--scheduler_conf=/a"], "scheduler_conf", "/a"),
        (["--leader-elect_lease-duration=1m30s"], "leader_elect_lease_duration", 90.0),
        (["--scheduler-conf="], "scheduler_conf", ""),
        (["--scheduler-conf=a=b"], "scheduler_conf", "a=b"),
        (["--enable-healthz"], "enable_healthz", True),
        (["--enable-healthz", "false"], "enable_healthz", True),
        (["--enable-healthz=F"], "enable_healthz", False),
        (["--enable-healthz", "--enable-healthz=0"], "enable_healthz", False),
        (["-v", "3"], "v", 3),
        (["-v=3"], "v", 3),
        (["-v3"], "v", 3),
        (["--v", "3"], "v", 3),
        (["--v=3", "-v=5"], "v", 5),
        (["--schedule-period", "300ms"], "schedule_period", 0.3),
        (["--resync-period=0"], "resync_period", 0.0),
        (["--scheduler-name=a", "--scheduler-name", "b,c"], "scheduler_name", ("a", "b,c")),
        (["--node-selector=a:b,c:d", "--node-selector=e:f"], "node_selector", ("a:b", "c:d", "e:f")),
        (["--ignored-provisioners="], "ignored_provisioners", ()),
        (["--kube-api-qps=0.5"], "kube_api_qps", 0.5),
        (["--kube-api-burst=0x10"], "kube_api_burst", 16),
        (["--seed=42"], "seed", 42),
        (["2>&1", "-", "--v=1"], "v", 1),
        (["--v=1", "--", "--v=2"], "v", 1),
    ],
)
def test_flags_follow_the_rules_of_the_reference(arguments: list[str], field: str, value: Any) -> None:
    assert getattr(options(*arguments), field) == value


@pytest.mark.parametrize(
    ("argument", "part"),
    [
        ("--no-such-flag", "unknown flag: --no-such-flag"),
        ("--scheduler-con=x", "unknown flag: --scheduler-con"),
        ("-x", "unknown shorthand flag: 'x'"),
        ("--v", "flag needs an argument: --v"),
        ("---v=1", "bad flag syntax: ---v=1"),
        ("--schedule-period=5", "--schedule-period"),
        ("--enable-metrics=yes", "--enable-metrics"),
        ("--minimum-feasible-nodes=2147483648", "2147483647"),
        ("--node-worker-threads=-1", "--node-worker-threads"),
        ("--kube-api-burst=1.5", "whole number"),
        ("--kube-api-qps=fast", "not a number"),
        ("--feature-gates=PriorityClass", "write PriorityClass=true or PriorityClass=false"),
        ("--feature-gates=PriorityClass=maybe", "neither true nor false"),
        ("--feature-gates=PriorityClas=true", "did you mean PriorityClass?"),
    ],
)
def test_an_error_names_the_flag_and_the_value(argument: str, part: str) -> None:
    with pytest.raises(FlagError) as caught:
        options(argument)
    assert part in str(caught.value)


def test_every_klog_flag_is_accepted() -> None:
    names = ["vmodule", "log-file", "log-dir", "log-backtrace-at", "stderrthreshold"]
    switches = [
        "logtostderr",
        "alsologtostderr",
        "skip-headers",
        "skip-log-headers",
        "add-dir-header",
        "one-output",
        "legacy-stderr-threshold-behavior",
    ]
    arguments = [f"--{name}=x" for name in names] + [f"--{name}" for name in switches]
    assert options(*arguments, "--log-file-max-size=5", "--log-flush-frequency=1s") == options()


def test_every_flag_is_shown_as_the_log_has_it() -> None:
    _, shown = parse_options(["--scheduler-name=a", "--leader-elect-lease-duration=60s", "--logtostderr=false"])
    assert 'FLAG: --scheduler-name="[a]"' in shown
    assert 'FLAG: --leader-elect-lease-duration="1m0s"' in shown
    assert 'FLAG: --logtostderr="false"' in shown
    assert 'FLAG: --kube-api-qps="2000"' in shown
    assert list(shown) == sorted(shown, key=lambda line: line.partition("=")[0])
    assert len(shown) == len(flags.FLAGS)


@pytest.mark.parametrize("argument", ["--help", "-h"])
def test_help_is_an_outcome_of_its_own(argument: str) -> None:
    with pytest.raises(HelpWanted):
        options(argument)


def test_a_command_prints_help_and_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        read_options("vc-scheduler", ["--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert "--scheduler-conf string" in out
    assert "-v, --v int32" in out


def test_a_command_prints_flag_errors_with_usage_and_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        read_options("vc-scheduler", ["--nope"])
    assert caught.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("Usage of vc-scheduler:")
    assert err.endswith("unknown flag: --nope\n")


def test_a_command_prints_six_lines_of_version_and_ends_with_0(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VCSCHED_GIT_SHA", raising=False)
    with pytest.raises(SystemExit) as caught:
        read_options("vc-scheduler", ["--version"])
    assert caught.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    heads = ["API Version", "Version", "Git SHA", "Built At", "Go Version", "Go OS/Arch"]
    assert [line.split(": ")[0] for line in lines] == heads
    assert lines[0] == "API Version: v1alpha1"
    assert lines[2] == "Git SHA: Not provided."


def test_a_command_refuses_an_impossible_election_and_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        read_options("vc-scheduler", ["--leader-elect-resource-name="])
    assert caught.value.code == 1
    assert "--leader-elect-resource-name must not be empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], ""),
        (["--leader-elect=false", "--leader-elect-lease-duration=0"], ""),
        (["--leader-elect-lease-duration=0"], "lease-duration must be greater than 0"),
        (["--leader-elect-renew-deadline=-1s"], "renew-deadline must be greater than 0"),
        (["--leader-elect-retry-period=0"], "retry-period must be greater than 0"),
        (["--leader-elect-renew-deadline=15s"], "lease-duration must be greater than"),
        (["--leader-elect-retry-period=9s"], "1.2 times"),
        (["--leader-elect-resource-lock="], "resource-lock must not be empty"),
        (["--leader-elect-resource-namespace="], "resource-namespace must not be empty"),
        (["--leader-elect-resource-namespace=", "--lock-object-namespace=x"], ""),
    ],
)
def test_leader_election_is_checked_only_when_it_is_on(arguments: list[str], part: str) -> None:
    problem = election_problem(options(*arguments))
    assert part in problem
    assert bool(part) == bool(problem)


def test_the_deprecated_namespace_wins_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    given, _ = read_options("vc-scheduler", ["--lock-object-namespace=old"])
    assert given.lease_namespace == "old"
    assert "deprecated" in capsys.readouterr().err
    assert options().lease_namespace == "volcano-system"


def test_tls_needs_all_three_files() -> None:
    two = ["--ca-cert-file=a", "--tls-cert-file=b"]
    assert not options(*two).serves_tls
    assert options(*two, "--tls-private-key-file=c").serves_tls


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--scheduler-sharding-mode=strict"], "acts as none"),
        (["--node-selector=a"], "write key:value"),
        (["--node-selector=a:"], "write key:value"),
        (["--scheduler-name=mine"], "--leader-elect-resource-name"),
    ],
)
def test_what_was_hardly_meant_is_said(arguments: list[str], part: str) -> None:
    (doubt,) = doubts(options(*arguments))
    assert part in doubt


def test_nothing_is_said_about_sound_options() -> None:
    assert doubts(options()) == []
    assert doubts(options("--scheduler-name=mine", "--leader-elect-resource-name=mine")) == []
    assert doubts(options("--scheduler-sharding-mode=soft", "--node-selector=a:b")) == []
