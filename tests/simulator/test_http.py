"""Lists, watches, tables and errors over HTTP."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.simulator.conftest import Http, eventually
from vcsched.simulator.cluster import ApiServer
from vcsched.simulator.world import World

PODS = "/api/v1/namespaces/default/pods"
BINDING = {"apiVersion": "v1", "kind": "Binding", "target": {"name": "n-0"}}


@pytest.fixture(autouse=True)
def cluster(server: ApiServer) -> World:
    world = World()
    world.nodes(2)
    world.gang("g", pods=5, cpu=1)
    world.pod("elsewhere", namespace="team")
    server.load(world.objects())
    return world


def names(body: dict[str, Any]) -> list[str]:
    return [item["metadata"]["name"] for item in body["items"]]


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "a"}]}}


def version(http: Http) -> str:
    return http.get("/api/v1/pods?limit=1")["metadata"]["resourceVersion"]


# ---------------------------------------------------------------- lists


def test_a_list_is_of_one_namespace_or_of_all(http: Http) -> None:
    assert names(http.get(PODS)) == [f"g-{number}" for number in range(5)]
    assert "elsewhere" in names(http.get("/api/v1/pods"))
    assert http.get("/api/v1/pods")["kind"] == "PodList"


def test_the_pages_of_a_list_show_the_moment_of_the_first(http: Http) -> None:
    first = http.get(f"{PODS}?limit=2")
    assert first["metadata"]["remainingItemCount"] == 3
    http.post(PODS, pod("a-new-one"))
    http("DELETE", f"{PODS}/g-4")
    second = http.get(f"{PODS}?limit=2&continue={first['metadata']['continue']}")
    third = http.get(f"{PODS}?limit=2&continue={second['metadata']['continue']}")
    assert names(first) + names(second) + names(third) == [f"g-{number}" for number in range(5)]
    assert third["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert "continue" not in third["metadata"]


def test_a_continue_token_is_too_old_after_a_compaction(http: Http) -> None:
    token = http.get(f"{PODS}?limit=2")["metadata"]["continue"]
    http.post("/simulator/compact", {})
    status, body = http("GET", f"{PODS}?limit=2&continue={token}")
    assert (status, body["reason"]) == (410, "Expired")
    assert http("GET", f"{PODS}?continue=rubbish")[0] == 400


def test_selectors_narrow_a_list(http: Http) -> None:
    http.post(f"{PODS}/g-1/binding", BINDING)
    assert names(http.get(f"{PODS}?fieldSelector=spec.nodeName%3Dn-0")) == ["g-1"]
    assert names(http.get("/api/v1/pods?labelSelector=!volcano.sh/job-name")) == ["elsewhere"]


def test_a_collection_is_deleted_by_selector(http: Http) -> None:
    assert http("DELETE", f"{PODS}?fieldSelector=metadata.name%3Dg-2")[0] == 200
    assert "g-2" not in names(http.get(PODS))
    assert len(names(http.get(PODS))) == 4


# ---------------------------------------------------------------- watches


def test_a_watch_tells_every_change_after_its_version_in_order(http: Http) -> None:
    start = version(http)
    http.post(PODS, pod("new"))
    http.post(f"{PODS}/new/binding", BINDING)
    http("DELETE", f"{PODS}/new?gracePeriodSeconds=0")
    events = list(http.watch(f"{PODS}?watch=true&resourceVersion={start}&timeoutSeconds=1"))
    mine = [event for event in events if event["object"]["metadata"]["name"] == "new"]
    assert mine[0]["type"] == "ADDED"
    assert mine[-1]["type"] == "DELETED"
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(versions)


def test_a_watch_from_nowhere_begins_with_what_is_there(http: Http) -> None:
    events = list(http.watch(f"{PODS}?watch=true&timeoutSeconds=0.2"))
    assert [event["type"] for event in events] == ["ADDED"] * 5


def test_a_streamed_list_ends_with_a_bookmark(http: Http) -> None:
    query = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=0.2"
    events = list(http.watch(f"{PODS}?{query}&resourceVersionMatch=NotOlderThan"))
    assert [event["type"] for event in events] == ["ADDED"] * 5 + ["BOOKMARK"]
    assert events[-1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_with_a_selector_what_leaves_the_view_is_deleted(http: Http) -> None:
    start = version(http)
    http.post(f"{PODS}/g-0/binding", BINDING)
    query = f"watch=true&resourceVersion={start}&timeoutSeconds=0.2"
    left = list(http.watch(f"{PODS}?{query}&fieldSelector=spec.nodeName%3D"))
    came = list(http.watch(f"{PODS}?{query}&fieldSelector=spec.nodeName%3Dn-0"))
    assert [event["type"] for event in left] == ["DELETED"]
    assert came[0]["type"] == "ADDED"


def test_a_version_that_is_too_old_is_gone(http: Http) -> None:
    start = version(http)
    http.post(PODS, pod("new"))
    http.post("/simulator/compact", {})
    events = list(http.watch(f"{PODS}?watch=true&resourceVersion={start}"))
    assert [(event["type"], event["object"]["code"]) for event in events] == [("ERROR", 410)]


def test_a_version_of_another_life_of_the_server_is_gone(http: Http) -> None:
    events = list(http.watch(f"{PODS}?watch=true&resourceVersion=999999"))
    assert events[0]["object"]["reason"] == "Expired"


# ---------------------------------------------------------------- tables


def cells(http: Http, path: str) -> list[dict[str, Any]]:
    table = http.get(path, Accept="application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
    heads = [column["name"] for column in table["columnDefinitions"]]
    return [dict(zip(heads, row["cells"], strict=True)) for row in table["rows"]]


def test_kubectl_gets_tables(http: Http) -> None:
    http.post(f"{PODS}/g-0/binding", BINDING)
    eventually(lambda: cells(http, PODS)[0]["Status"], "Running")
    row = cells(http, PODS)[0]
    assert (row["Name"], row["Ready"], row["Node"]) == ("g-0", "1/1", "n-0")
    assert cells(http, "/api/v1/nodes")[0]["Status"] == "Ready"
    group = cells(http, "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups")[0]
    assert list(group) == ["Name", "STATUS", "minMember", "RUNNINGS", "AGE", "QUEUE"]
    assert (group["minMember"], group["QUEUE"]) == (5, "default")


def test_a_deleted_or_gated_pod_shows_it(http: Http) -> None:
    new = pod("gated")
    new["spec"]["schedulingGates"] = [{"name": "wait"}]
    http.post(PODS, new)
    assert next(row for row in cells(http, PODS) if row["Name"] == "gated")["Status"] == "SchedulingGated"


# ---------------------------------------------------------------- writes and errors


@pytest.mark.parametrize(
    ("method", "path", "code", "reason"),
    [
        ("GET", f"{PODS}/nobody", 404, "NotFound"),
        ("GET", "/apis/nothing.io/v1/things", 404, "NotFound"),
        ("GET", f"{PODS}/g-0/log", 404, "NotFound"),
        ("PATCH", f"{PODS}/g-0", 415, "UnsupportedMediaType"),
        ("POST", f"{PODS}", 400, "BadRequest"),
        ("PUT", PODS, 405, "MethodNotAllowed"),
        ("GET", f"{PODS}?limit=x", 400, "BadRequest"),
        ("GET", f"{PODS}/g-0/binding", 405, "MethodNotAllowed"),
        ("GET", f"{PODS}?watch=true&resourceVersion=x", 400, "BadRequest"),
    ],
)
def test_an_error_is_a_status_object(http: Http, method: str, path: str, code: int, reason: str) -> None:
    status, body = http(method, path, [] if method == "PATCH" else None, "text/yaml")
    assert (status, body["kind"], body["code"], body["reason"]) == (code, "Status", code, reason)
    assert body["message"]


@pytest.mark.parametrize("kind", ["merge-patch+json", "strategic-merge-patch+json"])
def test_a_condition_is_patched_through_the_status_subresource(http: Http, kind: str) -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    patch = {"metadata": {"labels": {"no": "effect"}}, "status": {"conditions": [condition]}}
    status, body = http("PATCH", f"{PODS}/g-0/status", patch, f"application/{kind}")
    assert status == 200
    assert body["status"]["conditions"] == [condition]
    assert "no" not in body["metadata"]["labels"]


def test_a_dry_run_leaves_everything_as_it_was(http: Http) -> None:
    assert http.post(f"{PODS}?dryRun=All", pod("new"))["metadata"]["uid"]
    assert "new" not in names(http.get(PODS))


def test_bindings_of_one_pod_at_once_have_one_winner(http: Http, server: ApiServer) -> None:
    answers: list[int] = []

    def bind() -> None:
        answers.append(http("POST", f"{PODS}/g-0/binding", BINDING)[0])

    threads = [threading.Thread(target=bind) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(answers) == [201, 409, 409, 409, 409, 409]


def test_requests_are_counted(http: Http, server: ApiServer) -> None:
    http.get(PODS)
    http.post(f"{PODS}/g-0/binding", BINDING)
    counted = server.requests()
    assert counted["list pods"] == 1
    assert counted["create pods/binding"] == 1


# ---------------------------------------------------------------- faults


def test_a_429_says_when_to_come_back(http: Http) -> None:
    http.post("/simulator/faults", {"verb": "list", "resource": "pods", "code": 429, "retry_after_s": 7})
    status, headers = http.raw_headers(PODS)
    assert (status, headers["Retry-After"]) == (429, "7")
    assert http("GET", PODS)[0] == 200


@pytest.mark.parametrize("code", [403, 409, 500])
def test_an_answer_is_replaced_as_often_as_asked(http: Http, server: ApiServer, code: int) -> None:
    fault = server.fault(verb="create", resource="pods/binding", code=code, after=1, count=1)
    answers = [http("POST", f"{PODS}/g-{number}/binding", BINDING)[0] for number in range(3)]
    assert answers == [201, code, 201]
    assert fault.hits == 1
    assert "nodeName" not in http.get(f"{PODS}/g-1")["spec"]


def test_with_a_lost_answer_the_write_happened(http: Http, server: ApiServer) -> None:
    server.fault(verb="create", resource="pods/binding", action="lost")
    with pytest.raises(Exception, match=r"[Cc]onnection|reset|aborted"):
        http("POST", f"{PODS}/g-0/binding", BINDING)
    assert http.get(f"{PODS}/g-0")["spec"]["nodeName"] == "n-0"


def test_faults_by_chance_come_from_the_seed(server: ApiServer, http: Http) -> None:
    server.fault(verb="list", probability=0.5, count=None)
    answers = [http("GET", PODS)[0] for _ in range(20)]
    assert {200, 500} == set(answers)
    server.call(lambda simulation: simulation.faults.clear())
    assert {http("GET", PODS)[0] for _ in range(5)} == {200}


def opened(http: Http, path: str) -> tuple[list[dict[str, Any]], Callable[[], bool]]:
    """A watch in a thread: the events it got so far, and whether it has ended."""
    events: list[dict[str, Any]] = []

    def read() -> None:
        try:
            events.extend(http.watch(path))
        except Exception as error:
            events.append({"type": type(error).__name__})

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return events, lambda: not thread.is_alive()


@pytest.mark.parametrize(("action", "last"), [("cut", "ProtocolError"), ("gone", "ERROR")])
def test_an_open_watch_is_ended_at_once(http: Http, server: ApiServer, action: str, last: str) -> None:
    events, ended = opened(http, f"{PODS}?watch=true&resourceVersion={version(http)}")
    eventually(lambda: server.requests().get("watch pods"), 1)
    server.fault(verb="watch", resource="pods", action=action)
    eventually(ended)
    assert events[-1]["type"] == last


def test_a_stalled_watch_loses_nothing(http: Http, server: ApiServer) -> None:
    server.fault(verb="watch", resource="pods", action="stall", seconds=0.3)
    start = version(http)
    http.post(f"{PODS}/g-0/binding", BINDING)
    events = list(http.watch(f"{PODS}?watch=true&resourceVersion={start}&timeoutSeconds=1"))
    assert events[0]["object"]["spec"]["nodeName"] == "n-0"


def test_a_fault_that_cannot_be_read_is_refused(http: Http) -> None:
    status, body = http("POST", "/simulator/faults", {"verbs": "list"})
    assert status == 400
    assert "verbs" in body["message"]
