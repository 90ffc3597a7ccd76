"""Every label, annotation, gate, resource and condition name that the scheduler reads or writes.

Spec 01 §13 has the catalogue with who sets what; spec 08 §9 the conditions. No key is spelled elsewhere.
"""

from __future__ import annotations

# ---------------------------------------------------------------- API groups

SCHEDULING_GROUP = "scheduling.volcano.sh"
SCHEDULING_API = "scheduling.volcano.sh/v1beta1"

# ---------------------------------------------------------------- membership, roles, queues

GROUP_NAME = "scheduling.k8s.io/group-name"  # pod annotation: name of its PodGroup
VOLCANO_GROUP_NAME = "scheduling.volcano.sh/group-name"  # pod annotation: vGPU group policy only
QUEUE_NAME = "scheduling.volcano.sh/queue-name"  # pod or namespace annotation
QUEUE_ALLOCATION_GATE = "scheduling.volcano.sh/queue-allocation-gate"  # pod annotation and gate name
TASK_SPEC = "volcano.sh/task-spec"  # pod annotation, then label: role of the pod
TASK_INDEX = "volcano.sh/task-index"
PARTITION_ID = "volcano.sh/partition-id"
TEMPLATE_UID = "volcano.sh/template-uid"
TASK_PRIORITY = "volcano.sh/task-priority"  # pod annotation: overrides the pod's priority
JOB_NAME = "volcano.sh/job-name"

# ---------------------------------------------------------------- eviction

PREEMPTABLE = "volcano.sh/preemptable"  # pod and PodGroup, annotation then label
REVOCABLE_ZONE = "volcano.sh/revocable-zone"  # pod and PodGroup annotation, node label
COOLDOWN_TIME = "volcano.sh/cooldown-time"  # pod label, then annotation
JDB_MIN_AVAILABLE = "volcano.sh/jdb-min-available"  # PodGroup annotation
JDB_MAX_UNAVAILABLE = "volcano.sh/jdb-max-unavailable"

# ---------------------------------------------------------------- jobs

SLA_WAITING_TIME = "volcano.sh/sla-waiting-time"  # PodGroup annotation
SLA_WAITING_TIME_SHORT = "sla-waiting-time"  # read where the long one is missing
JOB_ALLOCATED_HYPERNODE = "volcano.sh/job-allocated-hypernode"  # PodGroup annotation, written by us
TASK_TOPOLOGY_AFFINITY = "volcano.sh/task-topology-affinity"
TASK_TOPOLOGY_ANTI_AFFINITY = "volcano.sh/task-topology-anti-affinity"
TASK_TOPOLOGY_TASK_ORDER = "volcano.sh/task-topology-task-order"
RESOURCE_STRATEGY_SCORING_TYPE = "volcano.sh/resource-strategy-scoring-type"
RESOURCE_STRATEGY_WEIGHT = "volcano.sh/resource-strategy-weight"
FORWARD_CLUSTER = "volcano.sh/forward-cluster"

# ---------------------------------------------------------------- queues

HIERARCHY = "volcano.sh/hierarchy"  # queue annotation: "root/a/b"
HIERARCHY_WEIGHTS = "volcano.sh/hierarchy-weights"  # queue annotation: "1/2/4"
NODEGROUP_RESOURCE_LIMITS = "volcano.sh/nodegroup-resource-limits"
CLOSED_BY_PARENT = "volcano.sh/closed-by-parent"

# ---------------------------------------------------------------- nodes

NODEGROUP_NAME = "volcano.sh/nodegroup-name"  # node label
OVERSUBSCRIPTION = "volcano.sh/oversubscription"  # node label, informational
OVERSUBSCRIPTION_CPU = "volcano.sh/oversubscription-cpu"  # node annotation: milli-cores
OVERSUBSCRIPTION_MEMORY = "volcano.sh/oversubscription-memory"  # node annotation: bytes
OFFLINE_JOB_EVICTING = "volcano.sh/offline-job-evicting"

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
ZONE_OLD = "failure-domain.beta.kubernetes.io/zone"
REGION_OLD = "failure-domain.beta.kubernetes.io/region"
TAINT_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"

# ---------------------------------------------------------------- NUMA, devices

NUMA_TOPOLOGY_POLICY = "volcano.sh/numa-topology-policy"  # pod annotation
TOPOLOGY_DECISION = "volcano.sh/topology-decision"  # pod annotation, written at bind
GPU_INDEX = "volcano.sh/gpu-index"
PREDICATE_TIME = "volcano.sh/predicate-time"
GPU_UNHEALTHY_IDS = "volcano.sh/gpu-unhealthy-ids"  # node annotation
VGPU_IDS_NEW = "volcano.sh/vgpu-ids-new"
DEVICES_TO_ALLOCATE = "volcano.sh/devices-to-allocate"
VGPU_NODE = "volcano.sh/vgpu-node"
VGPU_TIME = "volcano.sh/vgpu-time"
BIND_TIME = "volcano.sh/bind-time"
BIND_PHASE = "volcano.sh/bind-phase"
VGPU_MODE = "volcano.sh/vgpu-mode"
VGPU_PODGROUP_POLICY = "volcano.sh/vgpu-podgroup-policy"
VGPU_USE_GPUUUID = "volcano.sh/vgpu-use-gpuuuid"
VGPU_NOUSE_GPUUUID = "volcano.sh/vgpu-nouse-gpuuuid"
USE_GPUTYPE = "nvidia.com/use-gputype"
NOUSE_GPUTYPE = "nvidia.com/nouse-gputype"
NODE_VGPU_REGISTER = "volcano.sh/node-vgpu-register"  # node annotation
HAMI_MUTEX_LOCK = "hami.io/mutex.lock"  # node annotation

# ---------------------------------------------------------------- resource names

CPU = "cpu"
MEMORY = "memory"
PODS = "pods"
EPHEMERAL_STORAGE = "ephemeral-storage"
HUGEPAGES_PREFIX = "hugepages-"
ATTACHABLE_CSI_PREFIX = "attachable-volumes-csi-"
NVIDIA_GPU = "nvidia.com/gpu"
GPU_MEMORY = "volcano.sh/gpu-memory"
GPU_NUMBER = "volcano.sh/gpu-number"
VGPU_NUMBER = "volcano.sh/vgpu-number"
VGPU_MEMORY = "volcano.sh/vgpu-memory"
VGPU_MEMORY_PERCENTAGE = "volcano.sh/vgpu-memory-percentage"
VGPU_CORES = "volcano.sh/vgpu-cores"

# ---------------------------------------------------------------- pod conditions and their reasons

POD_SCHEDULED = "PodScheduled"
POD_READY = "Ready"
DISRUPTION_TARGET = "DisruptionTarget"
POD_RESIZE_PENDING = "PodResizePending"

REASON_UNSCHEDULABLE = "Unschedulable"
REASON_SCHEDULABLE = "Schedulable"
REASON_SCHEDULER_ERROR = "SchedulerError"
REASON_EVICT = "Evict"
REASON_PREEMPTION = "PreemptionByScheduler"
REASON_RESIZE_INFEASIBLE = "Infeasible"

# ---------------------------------------------------------------- PodGroup conditions and their reasons

PODGROUP_UNSCHEDULABLE = "Unschedulable"
PODGROUP_SCHEDULED = "Scheduled"
REASON_NOT_ENOUGH_RESOURCES = "NotEnoughResources"
REASON_NOT_ENOUGH_TASKS = "NotEnoughTasks"
REASON_NOT_ENOUGH_PODS_OF_TASK = "NotEnoughPodsOfTask"
REASON_TASKS_READY = "tasks in gang are ready to be scheduled"

# ---------------------------------------------------------------- event reasons

EVENT_SCHEDULED = "Scheduled"
EVENT_FAILED_SCHEDULING = "FailedScheduling"
EVENT_UNSCHEDULABLE = "Unschedulable"
EVENT_EVICT = "Evict"
EVENT_LEADER_ELECTION = "LeaderElection"
