"""Pod requests against the worked tables of spec 01 §14.2 and a naive re-computation."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.kube.objects import (
    Container,
    ContainerStatus,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    Quantities,
    Quantity,
    Resources,
)
from vcsched.model.quantity import QuantityError
from vcsched.model.requests import DEFAULT_MEMORY, kube_request, nonzero_request, pod_request

MI, GI = 1024**2, 1024**3
G = 10**9


def asks(
    other: Mapping[str, Quantity] | None = None,
    *,
    name: str = "",
    sidecar: bool = False,
    cpu: Quantity | None = None,
    memory: Quantity | None = None,
) -> Container:
    named = {"cpu": cpu, "memory": memory}
    requests = {key: value for key, value in named.items() if value is not None}
    return Container(
        name=name,
        restart_policy="Always" if sidecar else "",
        resources=Resources(requests={**requests, **(other or {})}),
    )


def pod(
    *containers: Container,
    init: tuple[Container, ...] = (),
    level: Quantities | None = None,
    overhead: Quantities | None = None,
    status: PodStatus | None = None,
) -> Pod:
    return Pod(
        spec=PodSpec(
            containers=containers,
            init_containers=init,
            overhead=overhead or {},
            resources=None if level is None else Resources(requests=level),
        ),
        status=status or PodStatus(),
    )


TWO = (asks(cpu="1000m", memory="1G"), asks(cpu="2000m", memory="2G"))


def test_containers_add_up_and_the_pod_counts_as_one() -> None:
    assert pod_request(pod(*TWO)) == {"cpu": 3000, "memory": 3 * G, "pods": 1}
    assert pod_request(pod(asks(cpu="1000m", memory="1G"), asks(cpu="2000m", memory="1G"))) == {
        "cpu": 3000,
        "memory": 2 * G,
        "pods": 1,
    }


def test_the_peak_of_the_init_containers_counts() -> None:
    init = (asks(cpu="2000m", memory="5G"), asks(cpu="2000m", memory="1G"))
    assert pod_request(pod(*TWO, init=init)) == {"cpu": 3000, "memory": 5 * G, "pods": 1}


@pytest.mark.parametrize(
    ("init", "container", "cpu"),
    [
        ([-1], 1, 2),
        ([5, -1, -2, -3], 1, 7),
        ([5, -1, -2, 5, -3], 1, 8),
        ([-10, 200], 100, 210),
    ],
    ids=["sidecar", "sidecars after init", "init between sidecars", "init beside a sidecar"],
)
def test_sidecars_run_beside_later_init_containers_and_beside_the_rest(
    init: list[int], container: int, cpu: int
) -> None:
    """Negative numbers are sidecars."""
    made = tuple(asks(cpu=abs(size), sidecar=size < 0) for size in init)
    assert pod_request(pod(asks(cpu=container), init=made))["cpu"] == cpu * 1000


BUSY = (asks(cpu="10m", sidecar=True), asks(cpu="200m"))


def test_a_pod_level_request_replaces_the_sum() -> None:
    level: Quantities = {"cpu": "250m", "memory": "100Mi", "hugepages-1Mi": "2Gi", "hugepages-1Ki": "2Gi"}
    assert pod_request(pod(asks(cpu="100m"), level=level, init=BUSY)) == {
        "cpu": 250,
        "memory": 100 * MI,
        "hugepages-1Mi": 2 * GI,
        "hugepages-1Ki": 2 * GI,
        "pods": 1,
    }


def test_overhead_comes_on_top_of_a_pod_level_request() -> None:
    both: Quantities = {"cpu": "250m", "memory": "100Mi"}
    found = pod_request(pod(asks(cpu="100m"), level=both, overhead=both, init=BUSY))
    assert found == {"cpu": 500, "memory": 200 * MI, "pods": 1}


def test_a_pod_level_request_leaves_what_it_does_not_name() -> None:
    found = pod_request(
        pod(
            asks({"nvidia.com/gpu": 1}, cpu="3000m", memory="2G"),
            level={"cpu": "4000m", "nvidia.com/gpu": 9},
            overhead={"cpu": "1000m", "memory": "1G"},
        )
    )
    assert found == {"cpu": 5000, "memory": 3 * G, "nvidia.com/gpu": 1000, "pods": 1}


def resized(reason: str | None, level: Quantities | None = None) -> Pod:
    conditions = () if reason is None else (PodCondition(type="PodResizePending", status="True", reason=reason),)
    state = ContainerStatus(name="main", resources=Resources(requests={"cpu": 1, "memory": "1Gi"}))
    return pod(
        asks(name="main", cpu="2", memory="2Gi"),
        level=level,
        status=PodStatus(conditions=conditions, container_statuses=(state,)),
    )


@pytest.mark.parametrize(("reason", "size"), [(None, 2), ("Infeasible", 1), ("Deferred", 2)])
def test_a_resize_counts_the_larger_side_unless_it_is_infeasible(reason: str | None, size: int) -> None:
    assert pod_request(resized(reason)) == {"cpu": size * 1000, "memory": size * GI, "pods": 1}
    level: Quantities = {"cpu": 4, "memory": "4Gi"}
    assert pod_request(resized(reason, level)) == {"cpu": 4000, "memory": 4 * GI, "pods": 1}


def test_what_the_kubelet_allocated_counts_too() -> None:
    state = ContainerStatus(
        name="main",
        resources=Resources(requests={"cpu": "1"}),
        allocated_resources={"cpu": "3", "memory": "1Gi"},
    )
    main = asks(name="main", cpu="2")
    running = PodStatus(container_statuses=(state,))
    assert pod_request(pod(main, status=running)) == {"cpu": 3000, "memory": GI, "pods": 1}


def test_a_status_without_resources_says_nothing() -> None:
    state = ContainerStatus(name="main", allocated_resources={"cpu": "3"})
    main = asks(name="main", cpu="2")
    assert pod_request(pod(main, status=PodStatus(container_statuses=(state,))))["cpu"] == 2000


def test_the_status_of_a_finished_init_container_says_nothing_but_that_of_a_sidecar_does() -> None:
    states = tuple(ContainerStatus(name=name, resources=Resources(requests={"cpu": "9"})) for name in ("init", "side"))
    status = PodStatus(init_container_statuses=states)
    main = asks(cpu="1")
    assert pod_request(pod(main, init=(asks(name="init", cpu="2"),), status=status))["cpu"] == 2000
    assert pod_request(pod(main, init=(asks(name="side", cpu="2", sidecar=True),), status=status))["cpu"] == 10000


def test_resources_stand_in_order_and_unknown_ones_are_dropped() -> None:
    found = pod_request(pod(asks({"x.io/a": 1, "storage": 1}), asks(memory=1, cpu=1)))
    assert list(found) == ["cpu", "memory", "pods", "x.io/a"]


def test_a_pod_that_asks_nothing_is_one_pod() -> None:
    assert pod_request(pod(asks())) == {"pods": 1}


def test_a_zero_request_is_there() -> None:
    assert pod_request(pod(asks({"nvidia.com/gpu": "0"}))) == {"nvidia.com/gpu": 0, "pods": 1}


def test_a_bad_quantity_names_container_resource_and_value() -> None:
    with pytest.raises(QuantityError, match=r"container main: resources\.requests\.memory: '1GB' is not"):
        pod_request(pod(asks(name="main", memory="1GB")))
    with pytest.raises(QuantityError, match=r"spec\.overhead\.cpu: 'x' is not"):
        pod_request(pod(asks(), overhead={"cpu": "x"}))


@pytest.mark.parametrize(
    ("made", "cpu", "memory"),
    [
        (pod(asks()), 100, DEFAULT_MEMORY),
        (pod(asks(cpu="0", memory="0")), 0, 0),
        (pod(asks(cpu="1"), asks(memory="1Gi")), 1100, GI + DEFAULT_MEMORY),
        (pod(asks(cpu="1", memory="1Gi"), init=(asks(cpu="2"),)), 2000, GI),
        (pod(asks(cpu="1"), init=(asks(cpu="1", sidecar=True),)), 2000, 2 * DEFAULT_MEMORY),
        (pod(asks(), asks(), level={"memory": "1Gi"}), 200, GI),
        (pod(asks(), overhead={"cpu": "1"}), 1100, DEFAULT_MEMORY),
        (resized(None), 2000, 2 * GI),
    ],
    ids=["nothing", "written zeros", "mixed", "init", "sidecar", "pod level", "overhead", "resize"],
)
def test_scorers_take_no_container_to_need_nothing(made: Pod, cpu: float, memory: float) -> None:
    assert nonzero_request(made) == (cpu, memory)


def test_balanced_allocation_sees_the_real_request() -> None:
    made = pod(asks({"nvidia.com/gpu": 2}, cpu="1"), asks(memory="1Gi"))
    assert kube_request(made) == (1000, GI, 2000)
    assert kube_request(pod(asks())) == (0, 0, 0)


RESOURCES = ("cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi")
lists = st.dictionaries(st.sampled_from(RESOURCES), st.integers(0, 9), max_size=3)
stages = st.lists(st.tuples(st.booleans(), lists), max_size=5)


@given(st.lists(lists, min_size=1, max_size=3), stages, lists)
def test_the_request_is_the_peak_of_the_pods_life(
    containers: list[dict[str, int]], init: list[tuple[bool, dict[str, int]]], overhead: dict[str, int]
) -> None:
    found = pod_request(
        pod(
            *(asks(asked) for asked in containers),
            init=tuple(asks(asked, sidecar=sidecar) for sidecar, asked in init),
            overhead=dict(overhead),
        )
    )

    factor = {"cpu": 1000, "nvidia.com/gpu": 1000}
    for name in RESOURCES:
        moments, standing = [], 0
        for sidecar, asked in init:
            moments.append(standing + asked.get(name, 0))
            standing += asked.get(name, 0) if sidecar else 0
        moments.append(standing + sum(asked.get(name, 0) for asked in containers))
        assert found.get(name, 0) == (max(moments) + overhead.get(name, 0)) * factor.get(name, 1)
        named = any(name in asked for asked in [*containers, *(asked for _, asked in init), overhead])
        assert (name in found) is named
