"""The plugins of the oracle by the names that configurations use (spec 05, 06, 07)."""

from .base import Plugin
from .binpack import BinPack
from .capacity import Capacity
from .cdp import CooldownProtection
from .conformance import Conformance
from .drf import DominantResourceFairness
from .gang import Gang
from .network_topology_aware import NetworkTopologyAware
from .nodegroup import NodeGroup
from .nodeorder import NodeOrder
from .overcommit import Overcommit
from .pdb import DisruptionBudgets
from .predicates import Predicates
from .priority import Priority
from .proportion import Proportion
from .resource_strategy_fit import ResourceStrategyFit
from .resourcequota import ResourceQuota
from .sla import ServiceLevel
from .task_topology import TaskTopology
from .tdm import TimeDivision
from .usage import Usage

PLUGINS: dict[str, type[Plugin]] = {
    "binpack": BinPack,
    "capacity": Capacity,
    "cdp": CooldownProtection,
    "conformance": Conformance,
    "drf": DominantResourceFairness,
    "gang": Gang,
    "network-topology-aware": NetworkTopologyAware,
    "nodegroup": NodeGroup,
    "nodeorder": NodeOrder,
    "overcommit": Overcommit,
    "pdb": DisruptionBudgets,
    "predicates": Predicates,
    "priority": Priority,
    "proportion": Proportion,
    "resource-strategy-fit": ResourceStrategyFit,
    "resourcequota": ResourceQuota,
    "sla": ServiceLevel,
    "task-topology": TaskTopology,
    "tdm": TimeDivision,
    "usage": Usage,
}
