"""Evictions on the embedded API server: the same tests, but for the one in which the kubelets are held up."""

from __future__ import annotations

from tests.e2e.test_evictions import (
    test_a_pod_of_a_group_that_is_not_admitted_preempts_nobody,
    test_preempt_leaves_other_queues_alone,
    test_preempt_takes_what_a_gang_needs_in_its_queue,
    test_preempt_that_cannot_be_enough_evicts_nobody,
    test_reclaim_gives_queues_what_they_deserve,
    test_reclaim_has_nothing_to_do_where_a_node_is_free,
    test_reclaim_in_a_tree_of_queues,
    test_reclaim_leaves_a_job_of_a_queue_with_its_share_waiting,
    test_reclaim_takes_one_pod_of_each_queue_that_has_two,
    test_who_is_in_the_way_goes_though_bystanders_are_lower,
)

__all__ = [
    "test_a_pod_of_a_group_that_is_not_admitted_preempts_nobody",
    "test_preempt_leaves_other_queues_alone",
    "test_preempt_takes_what_a_gang_needs_in_its_queue",
    "test_preempt_that_cannot_be_enough_evicts_nobody",
    "test_reclaim_gives_queues_what_they_deserve",
    "test_reclaim_has_nothing_to_do_where_a_node_is_free",
    "test_reclaim_in_a_tree_of_queues",
    "test_reclaim_leaves_a_job_of_a_queue_with_its_share_waiting",
    "test_reclaim_takes_one_pod_of_each_queue_that_has_two",
    "test_who_is_in_the_way_goes_though_bystanders_are_lower",
]
