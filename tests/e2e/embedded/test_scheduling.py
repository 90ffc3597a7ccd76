"""What holds on a real control plane holds here: the same tests, on the embedded API server."""

from __future__ import annotations

from tests.e2e.test_scheduling import (
    test_a_gang_starts_when_the_node_it_lacked_arrives,
    test_a_gang_starts_whole_or_not_at_all,
    test_a_gated_gang_waits_for_its_gates,
    test_a_waiting_gang_and_its_pods_say_why,
    test_pods_without_a_podgroup_are_placed_too,
    test_room_that_finished_pods_leave_is_used_again,
    test_the_gang_of_higher_priority_goes_first,
    test_two_queues_share_a_full_cluster_by_weight,
)

__all__ = [
    "test_a_gang_starts_when_the_node_it_lacked_arrives",
    "test_a_gang_starts_whole_or_not_at_all",
    "test_a_gated_gang_waits_for_its_gates",
    "test_a_waiting_gang_and_its_pods_say_why",
    "test_pods_without_a_podgroup_are_placed_too",
    "test_room_that_finished_pods_leave_is_used_again",
    "test_the_gang_of_higher_priority_goes_first",
    "test_two_queues_share_a_full_cluster_by_weight",
]
