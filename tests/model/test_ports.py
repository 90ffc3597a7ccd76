"""Host ports (spec 06 §2.11)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.kube.objects import Container, ContainerPort, PodSpec
from vcsched.model.ports import ANY, HostPorts, Port, clash, wanted_ports


def test_protocol_and_address_have_defaults_and_ports_of_the_pod_only_do_not_count() -> None:
    ports = (
        ContainerPort(host_port=80),
        ContainerPort(host_port=53, protocol="UDP", host_ip="10.0.0.1"),
        ContainerPort(container_port=8080),
        ContainerPort(host_port=80, protocol="TCP"),
    )
    assert wanted_ports(PodSpec(containers=(Container(ports=ports),))) == (
        Port("TCP", ANY, 80),
        Port("UDP", "10.0.0.1", 53),
    )


def test_sidecars_ask_and_init_containers_that_end_do_not() -> None:
    init = (
        Container(ports=(ContainerPort(host_port=1),), restart_policy="Always"),
        Container(ports=(ContainerPort(host_port=2),)),
    )
    assert wanted_ports(PodSpec(init_containers=init)) == (Port("TCP", ANY, 1),)


@pytest.mark.parametrize(
    ("a", "b", "excluded"),
    [
        (Port("TCP", ANY, 80), Port("TCP", ANY, 80), True),
        (Port("TCP", "10.0.0.1", 80), Port("TCP", ANY, 80), True),
        (Port("TCP", "10.0.0.1", 80), Port("TCP", "10.0.0.1", 80), True),
        (Port("TCP", "10.0.0.1", 80), Port("TCP", "10.0.0.2", 80), False),
        (Port("TCP", ANY, 80), Port("UDP", ANY, 80), False),
        (Port("TCP", ANY, 80), Port("TCP", ANY, 81), False),
    ],
)
def test_the_same_port_excludes(a: Port, b: Port, excluded: bool) -> None:
    assert clash(a, b) is clash(b, a) is excluded


ports = st.builds(
    Port,
    st.sampled_from(("TCP", "UDP")),
    st.sampled_from((ANY, "10.0.0.1", "10.0.0.2")),
    st.sampled_from((80, 81)),
)
pods = st.lists(st.lists(ports, max_size=3, unique=True), max_size=5)


@given(pods, pods, st.lists(ports, max_size=3))
def test_a_node_refuses_what_clashes_with_a_pod_that_is_still_there(
    stay: list[list[Port]], leave: list[list[Port]], asked: list[Port]
) -> None:
    node = HostPorts()
    for pod in stay + leave:
        node.add(pod)
    for pod in leave:
        node.remove(pod)

    used = [port for pod in stay for port in pod]
    assert node.clashes(asked) is any(clash(mine, theirs) for mine in asked for theirs in used)
    assert bool(node) is bool(used)
