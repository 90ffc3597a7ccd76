"""The enable switches of a plugin entry: which plugin answers at which extension point (spec 03 §4).

The spelling, with its mixture of `enable…` and `enabled…`, is part of the interface.
"""

from collections.abc import Mapping
from types import MappingProxyType

OFF_UNLESS_SET = frozenset({"enableHierarchy", "enabledClusterOrder"})

DEFAULTS: Mapping[str, bool] = MappingProxyType(
    {
        switch: switch not in OFF_UNLESS_SET
        for switch in (
            "enableJobOrder",
            "enabledSubJobOrder",
            "enableTaskOrder",
            "enableQueueOrder",
            "enabledClusterOrder",
            "enableJobReady",
            "enabledSubJobReady",
            "enableJobPipelined",
            "enabledSubJobPipelined",
            "enableJobEnqueued",
            "enableJobStarving",
            "enablePreemptable",
            "enabledAllocatable",
            "enableReclaimable",
            "enablePreemptive",
            "enabledOverused",
            "enablePredicate",
            "enableBestNode",
            "enableNodeOrder",
            "enabledHyperNodeOrder",
            "enabledHyperNodeGradient",
            "enableTargetJob",
            "enableReservedNodes",
            "enabledVictim",
            "enableHierarchy",
        )
    }
)
"""Switch -> value where the entry does not name it."""
