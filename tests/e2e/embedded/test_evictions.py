"""Evictions on the embedded API server: the same tests, with pods that take a while to stop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.test_evictions_preempt import (
    test_a_pod_of_a_group_that_is_not_admitted_preempts_nobody,
    test_preempt_has_nothing_to_do_where_there_is_room_for_both,
    test_preempt_leaves_other_queues_alone,
    test_preempt_takes_what_a_gang_needs_in_its_queue,
    test_preempt_that_cannot_be_enough_evicts_nobody,
    test_who_is_in_the_way_goes_though_bystanders_are_lower,
)
from tests.e2e.test_evictions_reclaim import (
    test_a_job_of_a_queue_that_does_not_exist_says_so_and_takes_nothing,
    test_a_job_that_fits_no_node_is_admitted_and_reclaims_nothing,
    test_a_pod_that_somebody_else_put_on_a_node_we_do_not_know_counts_as_running,
    test_queues_that_have_a_pod_each_keep_it,
    test_reclaim_gives_queues_what_they_deserve,
    test_reclaim_has_nothing_to_do_where_a_node_is_free,
    test_reclaim_in_a_tree_of_queues,
    test_reclaim_leaves_a_job_of_a_queue_with_its_share_waiting,
    test_reclaim_takes_one_pod_of_each_queue_that_has_two,
)
from vcsched.simulator.cluster import ApiServer, Settings
from vcsched.simulator.kubelet import Pace

__all__ = [
    "test_a_job_of_a_queue_that_does_not_exist_says_so_and_takes_nothing",
    "test_a_job_that_fits_no_node_is_admitted_and_reclaims_nothing",
    "test_a_pod_of_a_group_that_is_not_admitted_preempts_nobody",
    "test_a_pod_that_somebody_else_put_on_a_node_we_do_not_know_counts_as_running",
    "test_preempt_has_nothing_to_do_where_there_is_room_for_both",
    "test_preempt_leaves_other_queues_alone",
    "test_preempt_takes_what_a_gang_needs_in_its_queue",
    "test_preempt_that_cannot_be_enough_evicts_nobody",
    "test_queues_that_have_a_pod_each_keep_it",
    "test_reclaim_gives_queues_what_they_deserve",
    "test_reclaim_has_nothing_to_do_where_a_node_is_free",
    "test_reclaim_in_a_tree_of_queues",
    "test_reclaim_leaves_a_job_of_a_queue_with_its_share_waiting",
    "test_reclaim_takes_one_pod_of_each_queue_that_has_two",
    "test_who_is_in_the_way_goes_though_bystanders_are_lower",
]


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """Pods have thirty seconds of grace and stop after half a second of it, five sessions."""
    with ApiServer(settings=Settings(pace=Pace(start_s=0.02, stop_s=0.5))) as server:
        yield server
