"""Kubernetes' feature gates: which are on by default, from which minor version (as of 1.36).

Kubernetes declares them version by version; this is that table turned round. A gate that was on for a
while and is off in 1.36 counts as off. The names are needed to tell a Kubernetes gate from a misspelt one.
"""

from collections.abc import Mapping
from types import MappingProxyType

_ON_FROM: Mapping[int, str] = {
    0: """
        AllowServiceExternalIPs StatefulSetSemanticRevisionComparison
    """,
    12: """
        RotateKubeletServerCertificate
    """,
    15: """
        StorageVersionHash
    """,
    16: """
        APIResponseCompression
    """,
    20: """
        ExecProbeTimeout WinOverlay
    """,
    21: """
        GracefulNodeShutdown
    """,
    22: """
        LogarithmicScaleDown PodDeletionCost
    """,
    23: """
        CPUManagerPolicyBetaOptions CPUManagerPolicyOptions
    """,
    24: """
        AnyVolumeDataSource GracefulNodeShutdownBasedOnPodPriority OpenAPIEnums
    """,
    26: """
        APIServerIdentity NodeInclusionPolicyInPodTopologySpread
    """,
    27: """
        APIServerTracing KubeletTracing MatchLabelKeysInPodTopologySpread PodSchedulingReadiness
    """,
    28: """
        SELinuxMountReadWriteOncePod TopologyManagerPolicyBetaOptions TopologyManagerPolicyOptions
    """,
    29: """
        JobBackoffLimitPerIndex JobPodReplacementPolicy PodReadyToStartContainersCondition
        SeparateTaintEvictionController SidecarContainers UnauthenticatedHTTP2DOSMitigation
    """,
    30: """
        CRDValidationRatcheting ContainerCheckpoint ImageMaximumGCAge NodeSwap PodLifecycleSleepAction
        ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
        StorageNamespaceIndex StructuredAuthenticationConfiguration TranslateStreamCloseWebsocketRequests
    """,
    31: """
        ConsistentListFromCache CustomResourceFieldSelectors JobSuccessPolicy KubeletCgroupDriverFromCRI
        KubeletSeparateDiskGC MatchLabelKeysInPodAffinity NFTablesProxyMode PortForwardWebsockets
        RecursiveReadOnlyMounts ReloadKubeletServerCertificateFile ResilientWatchCacheInitialization
        RetryGenerateName ServiceAccountTokenNodeBinding
    """,
    32: """
        AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache
        JobManagedBy RecoverVolumeExpansionFailure RelaxedEnvironmentVariableValidation
        SchedulerQueueingHints SystemdWatchdog
    """,
    33: """
        AggregatedDiscoveryRemoveBetaType AllowParsingUserUIDFromCertAuth DRAResourceClaimDeviceStatus
        DeclarativeValidation DisableCPUQuotaWithExclusiveCPUs DisableNodeKubeProxyVersion
        InPlacePodVerticalScaling KubeletFineGrainedAuthz MultiCIDRServiceAllocator OrderedNamespaceDeletion
        PodLifecycleSleepActionAllowZero ProcMountType RelaxedDNSSearchValidation RemoteRequestHeaderUID
        SELinuxChangePolicy SchedulerAsyncPreemption SchedulerPopFromBackoffQ
        ServiceAccountNodeAudienceRestriction StreamingCollectionEncodingToJSON
        StreamingCollectionEncodingToProtobuf SupplementalGroupsPolicy UserNamespacesSupport WinDSR
    """,
    34: """
        DRAAdminAccess DRAPrioritizedList DRASchedulerFilterTimeout DetectCacheInconsistency
        DisableAllocatorDualWrite DynamicResourceAllocation ExternalServiceAccountTokenSigner KubeletPSI
        KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletPodResourcesListUseActivePods
        KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
        MatchLabelKeysInPodTopologySpreadSelectorMerge PodLevelResources PodObservedGenerationTracking
        PreferSameTrafficDistribution PreventStaticPodAPIReferences SizeBasedListCostEstimate
        StructuredAuthenticationConfigurationEgressSelector TokenRequestServiceAccountUIDValidation
        VolumeAttributesClass WatchList WindowsGracefulNodeShutdown
    """,
    35: """
        AuthorizePodWebsocketUpgradeCreatePermission CSIServiceAccountTokenSecrets
        ClearingNominatedNodeNameAfterBinding ContainerRestartRules DeploymentReplicaSetTerminatingReplicas
        EnvFiles HPAConfigurableTolerance HostnameOverride ImageVolume KubeletCrashLoopBackOffMax
        KubeletEnsureSecretPulledImages MutableCSINodeAllocatableCount NominatedNodeNameForExpectation
        OpportunisticBatching PodTopologyLabelsAdmission StructuredAuthenticationConfigurationJWKSMetrics
    """,
    36: """
        CRDObservedGenerationTracking ComponentFlagz ComponentStatusz ConstrainedImpersonation
        CustomCPUCFSQuotaPeriod DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints
        DRAExtendedResource DRAPartitionableDevices DRAResourceClaimGranularStatusAuthorization
        DeclarativeValidationBeta ExtendWebSocketsToKubelet InPlacePodLevelResourcesVerticalScaling
        InPlacePodVerticalScalingInitContainers MutablePodResourcesForSuspendedJobs
        MutableSchedulingDirectivesForSuspendedJobs MutatingAdmissionPolicy NodeDeclaredFeatures
        NodeLogQuery PLEGOnDemandRelist RelaxedServiceNameValidation ReloadKubeletClientCAFile
        ResourceHealthStatus ResourceHealthStatusMessage RestartAllContainersOnContainerExits
        ServiceCIDRStatusFieldWiping StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
        StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet StrictIPCIDRValidation
        UnknownVersionInteroperabilityProxy WatchCacheInitializationPostStartHook
    """,
}
_OFF = """
    APIServingWithRoutine AllAlpha AllBeta AllowDNSOnlyNodeCSR
    AllowInsecureKubeletCertificateSigningRequests AllowOverwriteTerminationGracePeriodSeconds
    AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
    CRIListStreaming CSIVolumeHealth ChangeContainerStatusOnKubeletRestart
    CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook
    ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode ContainerStopSignals
    ControllerManagerReleaseLeaderElectionLockOnExit CoordinatedLeaderElection
    CrossNamespaceVolumeDataSource DRADeviceTaintRules DRAListTypeAttributes DRANodeAllocatableResources
    DRAResourcePoolStatus DRAWorkloadResourceClaims DeclarativeValidationTakeover EventedPLEG
    GangScheduling GenericWorkload GitRepoVolumeDriver HPAScaleToZero ImageVolumeWithDigest
    InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory KMSv1
    KubeletInUserNamespace KubeletRegistrationGetOnExistsOnly
    LocalStorageCapacityIsolationFSQuotaMonitoring ManifestBasedAdmissionControlConfig
    MaxUnavailableStatefulSet MemoryQoS MutablePVNodeAffinity PersistentVolumeClaimUnusedSinceTime
    PodAndContainerStatsFromCRI PodCertificateRequest PodLevelResourceManagers PodLogsQuerySplitStreams
    PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi SELinuxMount
    SchedulerAsyncAPICalls SeparateCacheWatchRPC ShardedListAndWatch StorageCapacityScoring
    StorageVersionAPI StorageVersionMigrator TaintTolerationComparisonOperators
    TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport
    VolumeLimitScaling WindowsCPUAndMemoryAffinity WindowsHostNetwork WorkloadAwarePreemption
    WorkloadWithJob
"""

ON_FROM_MINOR: Mapping[str, int | None] = MappingProxyType(
    {name: minor for minor, names in _ON_FROM.items() for name in names.split()} | dict.fromkeys(_OFF.split())
)
"""Gate -> first minor version of 1.x from which on it is on by default; None: in none."""
