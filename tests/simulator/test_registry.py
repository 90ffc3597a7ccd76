"""The rules of writing, without HTTP in between."""

import pytest

from vcsched.simulator import seed
from vcsched.simulator.errors import ApiError
from vcsched.simulator.registry import PODS, Registry
from vcsched.simulator.resources import BY_PLURAL, Resource
from vcsched.simulator.store import Store
from vcsched.simulator.world import World

QUEUES = BY_PLURAL["scheduling.volcano.sh", "v1beta1", "queues"]
PODGROUPS = BY_PLURAL["scheduling.volcano.sh", "v1beta1", "podgroups"]
CONFIGMAPS = BY_PLURAL["", "v1", "configmaps"]


@pytest.fixture
def registry() -> Registry:
    made = Registry(Store())
    world = World()
    world.nodes(2)
    world.gang("g", pods=2, cpu=1)
    for obj in (*seed.objects(), *world.objects()):
        made.load(obj)
    return made


def refused(code: int) -> "pytest.RaisesExc[ApiError]":
    return pytest.raises(ApiError, check=lambda error: error.code == code)


def pod(name: str = "", **spec: object) -> dict:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "a"}], **spec}}


def bind(registry: Registry, name: str, node: str = "n-0", **metadata: object) -> dict:
    return registry.bind("default", name, {"metadata": metadata, "target": {"name": node}}).obj


# ---------------------------------------------------------------- create


def test_a_new_object_gets_uid_time_generation_and_defaults(registry: Registry) -> None:
    made = registry.create(PODS, "default", pod("x")).obj
    meta = made["metadata"]
    assert meta["uid"]
    assert meta["creationTimestamp"].endswith("Z")
    assert meta["generation"] == 1
    assert made["status"] == {"phase": "Pending"}
    assert made["spec"]["schedulerName"] == "default-scheduler"
    assert made["spec"]["priority"] == 0


def test_a_generated_name_is_the_prefix_with_a_suffix(registry: Registry) -> None:
    names = set()
    for _ in range(3):
        new = {"metadata": {"generateName": "web-"}, "spec": {"containers": [{"name": "a"}]}}
        names.add(registry.create(PODS, "default", new).obj["metadata"]["name"])
    assert len(names) == 3
    assert all(name.startswith("web-") and len(name) == 9 for name in names)


def test_the_same_name_twice_already_exists(registry: Registry) -> None:
    registry.create(PODS, "default", pod("x"))
    with pytest.raises(ApiError, match="already exists") as error:
        registry.create(PODS, "default", pod("x"))
    assert error.value.reason == "AlreadyExists"


def test_a_missing_namespace_is_not_found(registry: Registry) -> None:
    with pytest.raises(ApiError, match='namespaces "nowhere" not found'):
        registry.create(PODS, "nowhere", pod("x"))


@pytest.mark.parametrize("name", ["Upper", "-dash", "a b", ""])
def test_a_name_the_api_would_not_take_is_refused(registry: Registry, name: str) -> None:
    with refused(422):
        registry.create(PODS, "default", pod(name))


def test_a_pod_gets_the_value_of_its_priority_class(registry: Registry) -> None:
    world = World()
    registry.load(world.priority_class("high", 100))
    assert registry.create(PODS, "default", pod("x", priorityClassName="high")).obj["spec"]["priority"] == 100
    with pytest.raises(ApiError, match="no PriorityClass with name nope"):
        registry.create(PODS, "default", pod("y", priorityClassName="nope"))


def test_limits_stand_in_for_missing_requests(registry: Registry) -> None:
    new = pod("x")
    new["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "2"}, "requests": {"memory": "1Gi"}}
    made = registry.create(PODS, "default", new).obj
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"memory": "1Gi", "cpu": "2"}


def test_a_gated_pod_says_so(registry: Registry) -> None:
    made = registry.create(PODS, "default", pod("x", schedulingGates=[{"name": "wait"}])).obj
    assert made["status"]["conditions"][0]["reason"] == "SchedulingGated"
    with refused(409):
        bind(registry, "x")


@pytest.mark.parametrize(("resource", "kept"), [(QUEUES, False), (PODGROUPS, True)], ids=["queue", "pod group"])
def test_status_at_creation_is_kept_only_without_a_subresource(
    registry: Registry, resource: Resource, kept: bool
) -> None:
    new = {"metadata": {"name": "x"}, "spec": {}, "status": {"phase": "Inqueue"}}
    home = "default" if resource.namespaced else ""
    assert ("status" in registry.create(resource, home, new).obj) is kept


def test_the_schemas_defaults_are_filled_in(registry: Registry) -> None:
    queue = registry.create(QUEUES, "", {"metadata": {"name": "q"}}).obj
    group = registry.create(
        PODGROUPS, "default", {"metadata": {"name": "x"}, "spec": {"networkTopology": {}, "subGroupPolicy": [{}]}}
    ).obj
    assert queue["spec"] == {"weight": 1, "dequeueStrategy": "traverse"}
    assert group["spec"]["queue"] == "default"
    assert group["spec"]["networkTopology"] == {"mode": "hard"}
    assert group["spec"]["subGroupPolicy"] == [{"subGroupSize": 1, "minSubGroups": 0}]


# ---------------------------------------------------------------- update


def test_a_write_on_an_old_version_conflicts(registry: Registry) -> None:
    old = registry.get(PODS, "default", "g-0").obj
    label = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    registry.update(PODS, "default", "g-0", lambda _: label)
    with pytest.raises(ApiError, match="the object has been modified"):
        registry.update(PODS, "default", "g-0", lambda _: label | {"spec": old["spec"]})


def test_a_write_that_changes_nothing_makes_no_version(registry: Registry) -> None:
    before = registry.store.rv
    registry.update(PODS, "default", "g-0", lambda old: {**old, "metadata": dict(old["metadata"])})
    assert registry.store.rv == before


def test_another_uid_conflicts(registry: Registry) -> None:
    with pytest.raises(ApiError, match="UID in precondition: other"):
        registry.update(PODS, "default", "g-0", lambda old: {**old, "metadata": {**old["metadata"], "uid": "other"}})


def test_status_is_written_only_through_its_subresource(registry: Registry) -> None:
    queue = registry.create(QUEUES, "", {"metadata": {"name": "q"}}).obj
    both = {**queue, "spec": {"weight": 5}, "status": {"state": "Open"}}
    main = registry.update(QUEUES, "", "q", lambda _: both).obj
    assert main["spec"]["weight"] == 5
    assert "status" not in main
    both = {**both, "metadata": main["metadata"], "spec": {"weight": 9}}
    status = registry.update(QUEUES, "", "q", lambda _: both, subresource="status").obj
    assert status["status"] == {"state": "Open"}
    assert status["spec"]["weight"] == 5


def test_a_pod_group_takes_its_status_with_the_object(registry: Registry) -> None:
    group = registry.get(PODGROUPS, "default", "g").obj
    made = registry.update(PODGROUPS, "default", "g", lambda _: {**group, "status": {"phase": "Running"}}).obj
    assert made["status"] == {"phase": "Running"}


def test_a_custom_resource_is_not_replaced_without_a_version(registry: Registry) -> None:
    bare = {"metadata": {"name": "g"}, "spec": {"minMember": 1}}
    with pytest.raises(ApiError, match="must be specified for an update"):
        registry.update(PODGROUPS, "default", "g", lambda _: bare)


def test_the_generation_counts_changes_of_the_spec(registry: Registry) -> None:
    registry.create(QUEUES, "", {"metadata": {"name": "q"}})
    heavier = registry.update(QUEUES, "", "q", lambda old: {**old, "spec": {"weight": 5}}).obj
    assert heavier["metadata"]["generation"] == 2
    open_ = {"state": "Open"}
    status = registry.update(QUEUES, "", "q", lambda old: {**old, "status": open_}, subresource="status").obj
    assert status["metadata"]["generation"] == 2


def test_what_the_server_owns_in_the_metadata_stays(registry: Registry) -> None:
    was = registry.get(PODS, "default", "g-0").obj["metadata"]
    made = registry.update(
        PODS, "default", "g-0", lambda old: {**old, "metadata": {"labels": {"new": "1"}}}, patch=True
    ).obj["metadata"]
    assert made["labels"] == {"new": "1"}
    assert (made["uid"], made["name"], made["creationTimestamp"]) == (
        was["uid"],
        was["name"],
        was["creationTimestamp"],
    )


def test_a_pods_spec_stays_but_for_gates_and_tolerations(registry: Registry) -> None:
    registry.create(PODS, "default", pod("x", schedulingGates=[{"name": "a"}, {"name": "b"}]))

    def with_spec(**fields: object) -> dict:
        return registry.update(PODS, "default", "x", lambda old: {**old, "spec": {**old["spec"], **fields}}).obj

    assert with_spec(schedulingGates=[{"name": "b"}])["spec"]["schedulingGates"] == [{"name": "b"}]
    assert with_spec(tolerations=[{"key": "k"}])["spec"]["tolerations"] == [{"key": "k"}]
    with refused(422):
        with_spec(schedulingGates=[{"name": "c"}])
    with refused(422):
        with_spec(nodeName="n-0")


# ---------------------------------------------------------------- bind


def test_a_binding_sets_the_node_and_the_condition_in_one_step(registry: Registry) -> None:
    before = registry.store.rv
    made = bind(registry, "g-0", annotations={"volcano.sh/gpu-index": "1"})
    assert registry.store.rv == before + 1
    assert made["spec"]["nodeName"] == "n-0"
    assert [(each["type"], each["status"]) for each in made["status"]["conditions"]] == [("PodScheduled", "True")]
    assert made["metadata"]["annotations"]["volcano.sh/gpu-index"] == "1"
    assert made["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "g"


def test_a_pod_is_bound_once(registry: Registry) -> None:
    bind(registry, "g-0")
    with refused(409):
        bind(registry, "g-0", "n-1")
    assert registry.get(PODS, "default", "g-0").obj["spec"]["nodeName"] == "n-0"


def test_a_binding_for_another_uid_conflicts(registry: Registry) -> None:
    with refused(409):
        bind(registry, "g-0", uid="other")
    uid = registry.get(PODS, "default", "g-0").obj["metadata"]["uid"]
    assert bind(registry, "g-0", uid=uid)["spec"]["nodeName"] == "n-0"


def test_a_pod_that_is_not_there_is_not_bound(registry: Registry) -> None:
    with refused(404):
        bind(registry, "nobody")
    with refused(422):
        bind(registry, "g-0", node="")


# ---------------------------------------------------------------- delete


def test_a_pod_without_a_node_is_gone_at_once(registry: Registry) -> None:
    registry.delete(PODS, "default", "g-0", {})
    with refused(404):
        registry.get(PODS, "default", "g-0")


def test_a_pod_on_a_node_is_marked_with_its_grace_period(registry: Registry) -> None:
    bind(registry, "g-0")
    made = registry.delete(PODS, "default", "g-0", {}).obj["metadata"]
    assert made["deletionGracePeriodSeconds"] == 30
    assert made["deletionTimestamp"] > registry.now()
    shorter = registry.delete(PODS, "default", "g-0", {"gracePeriodSeconds": 5}).obj["metadata"]
    assert shorter["deletionGracePeriodSeconds"] == 5
    registry.delete(PODS, "default", "g-0", {"gracePeriodSeconds": 0})
    with refused(404):
        registry.get(PODS, "default", "g-0")


def test_a_pod_being_deleted_is_not_bound(registry: Registry) -> None:
    registry.create(PODS, "default", pod("x"))
    registry.update(PODS, "default", "x", lambda old: {**old, "metadata": {**old["metadata"], "finalizers": ["a/b"]}})
    registry.delete(PODS, "default", "x", {})
    with refused(409):
        bind(registry, "x")


@pytest.mark.parametrize("field", ["uid", "resourceVersion"])
def test_a_deletion_with_a_wrong_precondition_conflicts(registry: Registry, field: str) -> None:
    with refused(409):
        registry.delete(PODS, "default", "g-0", {"preconditions": {field: "other"}})


def test_finalizers_are_waited_for(registry: Registry) -> None:
    new = {"metadata": {"name": "x", "finalizers": ["a/b"]}}
    registry.create(CONFIGMAPS, "default", new)
    marked = registry.delete(CONFIGMAPS, "default", "x", {}).obj
    assert "deletionTimestamp" in marked["metadata"]
    registry.update(CONFIGMAPS, "default", "x", lambda old: {**old, "metadata": {**old["metadata"], "finalizers": []}})
    with refused(404):
        registry.get(CONFIGMAPS, "default", "x")


def test_a_namespace_takes_its_content_along(registry: Registry) -> None:
    registry.delete(BY_PLURAL["", "v1", "namespaces"], "", "default", {})
    with refused(404):
        registry.get(PODS, "default", "g-1")
    with refused(404):
        registry.create(PODS, "default", pod("x"))


def test_an_eviction_respects_the_disruption_budget(registry: Registry) -> None:
    world = World()
    registry.load(world.disruption_budget("b", {"volcano.sh/job-name": "g"}, allowed=0))
    with refused(429):
        registry.evict("default", "g-0", {})
    registry.load(world.disruption_budget("b", {"volcano.sh/job-name": "g"}, allowed=1))
    registry.evict("default", "g-0", {})
    with refused(404):
        registry.get(PODS, "default", "g-0")
