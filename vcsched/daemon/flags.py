"""The flags of the scheduler daemon, the reference's and `--seed` (spec 02 §1.2).

`read_options` gives a frozen `Options` whose fields are the flags' names with underscores. What a flag
means is its text in the table. Feature gates are checked in `featuregates`, which knows the server.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from vcsched.daemon import featuregates, flagset
from vcsched.daemon.flagset import (
    ARRAY,
    BOOL,
    DURATION,
    FLOAT,
    GATES,
    INT,
    INT32,
    SLICE,
    STRING,
    UINT32,
    Flag,
    FlagError,
    HelpWanted,
)

log = logging.getLogger(__name__)
_V2 = logging.INFO - 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a run. Durations are seconds."""

    master: str
    kubeconfig: str
    kube_api_qps: float
    kube_api_burst: int
    ca_cert_file: str
    tls_cert_file: str
    tls_private_key_file: str
    lock_object_namespace: str
    scheduler_name: tuple[str, ...]
    scheduler_conf: str
    schedule_period: float
    resync_period: float
    default_queue: str
    version: bool
    listen_address: str
    healthz_address: str
    enable_healthz: bool
    enable_metrics: bool
    enable_pprof: bool
    priority_class: bool
    csi_storage: bool
    minimum_feasible_nodes: int
    minimum_percentage_nodes_to_find: int
    percentage_nodes_to_find: int
    plugins_dir: str
    node_selector: tuple[str, ...]
    cache_dumper: bool
    cache_dump_dir: str
    node_worker_threads: int
    gate_removal_worker_num: int
    ignored_provisioners: tuple[str, ...]
    resource_sync_timeout: float
    disable_default_scheduler_config: bool
    scheduler_sharding_mode: str
    scheduler_sharding_name: str
    feature_gates: tuple[tuple[str, bool], ...]
    leader_elect: bool
    leader_elect_lease_duration: float
    leader_elect_renew_deadline: float
    leader_elect_retry_period: float
    leader_elect_resource_lock: str
    leader_elect_resource_name: str
    leader_elect_resource_namespace: str
    v: int
    seed: int

    @property
    def serves_tls(self) -> bool:
        """Whether the health server speaks TLS: only with all three files."""
        return bool(self.ca_cert_file and self.tls_cert_file and self.tls_private_key_file)

    @property
    def lease_namespace(self) -> str:
        """Where the leader lease lies; the deprecated flag wins."""
        return self.lock_object_namespace or self.leader_elect_resource_namespace


FLAGS: tuple[Flag, ...] = (
    Flag("master", STRING, "", "address of the API server, instead of the kubeconfig's"),
    Flag("kubeconfig", STRING, "", "path of a kubeconfig; without it and --master, the in-cluster login"),
    Flag("kube-api-qps", FLOAT, 2000.0, "requests a second to the API server"),
    Flag("kube-api-burst", INT, 2000, "requests to the API server at once"),
    Flag("ca-cert-file", STRING, "", "CA for client certificates of the health server"),
    Flag("tls-cert-file", STRING, "", "certificate of the health server; TLS needs this, the key and the CA"),
    Flag("tls-private-key-file", STRING, "", "key of the health server's certificate"),
    Flag(
        "lock-object-namespace",
        STRING,
        "",
        "deprecated, use --leader-elect-resource-namespace: its namespace",
    ),
    Flag("scheduler-name", ARRAY, ("volcano",), "pods with this spec.schedulerName are ours; may be repeated"),
    Flag("scheduler-conf", STRING, "", "path of the configuration file"),
    Flag("schedule-period", DURATION, 1.0, "pause between two sessions"),
    Flag("resync-period", DURATION, 0.0, "accepted, watches need no resync"),
    Flag("default-queue", STRING, "default", "queue of PodGroups that name none; made at start"),
    Flag("version", BOOL, False, "print the version and exit"),
    Flag("listen-address", STRING, ":8080", "address of /metrics and /debug/pprof"),
    Flag("healthz-address", STRING, ":11251", "address of /healthz"),
    Flag("enable-healthz", BOOL, False, "serve /healthz and /readyz"),
    Flag("enable-metrics", BOOL, False, "serve /metrics"),
    Flag("enable-pprof", BOOL, False, "serve /debug/pprof"),
    Flag("priority-class", BOOL, True, "watch PriorityClasses"),
    Flag("csi-storage", BOOL, True, "watch CSIDrivers and CSIStorageCapacities"),
    Flag("minimum-feasible-nodes", INT32, 100, "nodes below which all are examined"),
    Flag("minimum-percentage-nodes-to-find", INT32, 5, "lower bound of the adaptive percentage"),
    Flag(
        "percentage-nodes-to-find",
        INT32,
        0,
        "percentage of feasible nodes after which the search ends; 0: all",
    ),
    Flag("plugins-dir", STRING, "", "directory of custom plugins (*.py with a callable New)"),
    Flag("node-selector", SLICE, (), "serve only nodes with one of these labels, each key:value"),
    Flag("cache-dumper", BOOL, True, "dump the cache on SIGUSR1 and SIGUSR2"),
    Flag("cache-dump-dir", STRING, "/tmp", "directory of the dumps"),
    Flag("node-worker-threads", UINT32, 20, "accepted, nodes need no workers"),
    Flag("gate-removal-worker-num", INT, 5, "scheduling gates that are removed at the same time"),
    Flag("ignored-provisioners", SLICE, (), "provisioners whose volumes are not looked at"),
    Flag("resource-sync-timeout", DURATION, 60.0, "how long to wait for the first lists; 0: not at all"),
    Flag("disable-default-scheduler-config", BOOL, False, "do not start without a good --scheduler-conf"),
    Flag("scheduler-sharding-mode", STRING, "none", "none, hard or soft"),
    Flag("scheduler-sharding-name", STRING, "volcano", "NodeShard of this scheduler"),
    Flag("feature-gates", GATES, (), "Name=true|false, comma separated"),
    Flag("log-flush-frequency", DURATION, 5.0, "accepted, the log is not buffered"),
    Flag("leader-elect", BOOL, True, "run only while holding the leader lease"),
    Flag("leader-elect-lease-duration", DURATION, 15.0, "how long a lease holds without renewal"),
    Flag("leader-elect-renew-deadline", DURATION, 10.0, "how long the leader tries to renew before it gives up"),
    Flag("leader-elect-retry-period", DURATION, 2.0, "pause between two tries to get or renew the lease"),
    Flag("leader-elect-resource-lock", STRING, "leases", "accepted, a Lease is always used"),
    Flag("leader-elect-resource-name", STRING, "volcano", "name of the Lease"),
    Flag("leader-elect-resource-namespace", STRING, "volcano-system", "namespace of the Lease"),
    Flag("v", INT32, 0, "verbosity of the log", "v"),
    Flag("seed", INT, 0, "seed of the choice among equals; the same input and seed give the same output"),
    # Of klog's other flags none changes anything: the log goes to stderr.
    Flag("vmodule", STRING, "", "accepted, without effect"),
    Flag("logtostderr", BOOL, True, "accepted, without effect"),
    Flag("alsologtostderr", BOOL, False, "accepted, without effect"),
    Flag("stderrthreshold", STRING, "INFO", "accepted, without effect"),
    Flag("log-file", STRING, "", "accepted, without effect"),
    Flag("log-dir", STRING, "", "accepted, without effect"),
    Flag("log-file-max-size", INT, 1800, "accepted, without effect"),
    Flag("skip-headers", BOOL, False, "accepted, without effect"),
    Flag("skip-log-headers", BOOL, False, "accepted, without effect"),
    Flag("add-dir-header", BOOL, False, "accepted, without effect"),
    Flag("one-output", BOOL, False, "accepted, without effect"),
    Flag("log-backtrace-at", STRING, "", "accepted, without effect"),
    Flag("legacy-stderr-threshold-behavior", BOOL, False, "accepted, without effect"),
)

_FIELDS = frozenset(Options.__slots__)


def parse_options(arguments: Sequence[str]) -> tuple[Options, tuple[str, ...]]:
    """The options, and every flag as the log shows it. FlagError or HelpWanted where there are none."""
    values = flagset.parse(FLAGS, arguments)
    unknown = featuregates.unknown(dict(values["feature-gates"]))
    if unknown:
        raise FlagError(f'invalid argument for "--feature-gates" flag: {unknown}')
    chosen: dict[str, Any] = {name.replace("-", "_"): value for name, value in values.items()}
    shown = tuple(f'FLAG: --{f.name}="{f.kind.show(values[f.name])}"' for f in sorted(FLAGS, key=_by_name))
    return Options(**{name: value for name, value in chosen.items() if name in _FIELDS}), shown


def read_options(command: str, arguments: Sequence[str]) -> tuple[Options, tuple[str, ...]]:
    """As `parse_options`, for a command: prints and exits on help, version, flag and election errors."""
    try:
        options, shown = parse_options(arguments)
    except HelpWanted:
        sys.stdout.write(flagset.usage(command, FLAGS))
        raise SystemExit(0) from None
    except FlagError as error:
        sys.stderr.write(f"{flagset.usage(command, FLAGS)}{error}\n")
        raise SystemExit(2) from None
    if options.version:
        sys.stdout.write(version_text())
        raise SystemExit(0)
    if options.lock_object_namespace:
        sys.stderr.write("Flag --lock-object-namespace has been deprecated, use --leader-elect-resource-namespace\n")
    problem = election_problem(options)
    if problem:
        _fail(problem)
    return options, shown


def log_flags(shown: Sequence[str]) -> None:
    """Every flag at verbosity 2, once logging is set up."""
    for line in shown:
        log.log(_V2, "%s", line)


def election_problem(options: Options) -> str:
    """What makes leader election impossible with these options, or nothing."""
    if not options.leader_elect:
        return ""
    lease, renew, retry = (
        options.leader_elect_lease_duration,
        options.leader_elect_renew_deadline,
        options.leader_elect_retry_period,
    )
    texts = (
        (lease > 0, "--leader-elect-lease-duration must be greater than 0"),
        (renew > 0, "--leader-elect-renew-deadline must be greater than 0"),
        (retry > 0, "--leader-elect-retry-period must be greater than 0"),
        (lease > renew, "--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline"),
        (
            renew > 1.2 * retry,
            "--leader-elect-renew-deadline must be greater than 1.2 times --leader-elect-retry-period",
        ),
        (bool(options.leader_elect_resource_lock), "--leader-elect-resource-lock must not be empty"),
        (bool(options.leader_elect_resource_name), "--leader-elect-resource-name must not be empty"),
        (bool(options.lease_namespace), "--leader-elect-resource-namespace must not be empty"),
    )
    return next((text for good, text in texts if not good), "")


def doubts(options: Options) -> list[str]:
    """What is accepted as the reference accepts it, and was hardly meant; one sentence each."""
    found = []
    if options.scheduler_sharding_mode not in ("none", "hard", "soft"):
        mode = options.scheduler_sharding_mode
        found.append(f'--scheduler-sharding-mode is "{mode}", which acts as none; it takes none, hard or soft')
    for item in options.node_selector:
        key, _, value = item.partition(":")
        if not key.strip() or not value.strip():
            found.append(f'--node-selector has "{item}", which selects nothing; write key:value')
    default = {flag.name: flag.default for flag in FLAGS}
    if (
        options.leader_elect
        and options.scheduler_name != default["scheduler-name"]
        and options.leader_elect_resource_name == default["leader-elect-resource-name"]
    ):
        found.append(
            f"--scheduler-name is {', '.join(options.scheduler_name)} but the lease is the one of every "
            "scheduler; give --leader-elect-resource-name if another one is to be active beside this one"
        )
    return found


def version_text() -> str:
    """The six lines of `--version`; build values come from the environment of the image."""

    def built(name: str) -> str:
        return os.environ.get(name) or "Not provided."

    from importlib.metadata import version

    return (
        "API Version: v1alpha1\n"
        f"Version: {version('vcsched')}\n"
        f"Git SHA: {built('VCSCHED_GIT_SHA')}\n"
        f"Built At: {built('VCSCHED_BUILT_AT')}\n"
        f"Go Version: none, {platform.python_implementation()} {platform.python_version()}\n"
        f"Go OS/Arch: {sys.platform}/{platform.machine()}\n"
    )


def _by_name(flag: Flag) -> str:
    return flag.name


def _fail(message: str) -> NoReturn:
    sys.stderr.write(f"{message}\n")
    raise SystemExit(1)
