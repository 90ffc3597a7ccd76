"""Discovery: which groups, versions and kinds there are, in the plain and the aggregated form.

The OpenAPI documents carry no schemas. They only tell kubectl that the server takes `fieldValidation`, so
that kubectl leaves validation to it.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import Any

from vcsched.simulator.resources import CORE_VERBS, RESOURCES, Resource
from vcsched.simulator.store import Obj

_JSON = "application/json"
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_REVIEWS = {
    "selfsubjectaccessreviews": "SelfSubjectAccessReview",
    "selfsubjectrulesreviews": "SelfSubjectRulesReview",
}
_AUTHORIZATION = ("authorization.k8s.io", "v1")
VERSION = {
    "major": "1",
    "minor": "32",
    "gitVersion": "v1.32.0+simulator",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "2026-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "python",
}


def document(path: str, accept: str) -> tuple[Any, str] | None:
    """The document at a path with its content type; None if there is none. Health is a plain text."""
    if path in ("/healthz", "/livez", "/readyz"):
        return "ok", "text/plain"
    if path in ("/api", "/apis") and "as=APIGroupDiscoveryList" in accept and "v=v2;" in accept:
        return _aggregated(core=path == "/api"), _AGGREGATED
    found = _documents().get(path)
    return None if found is None else (found, _JSON)


def access_review(asked: Obj) -> Obj:
    """Everything is allowed to everybody."""
    if asked.get("kind") == "SelfSubjectRulesReview":
        every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        paths = {"verbs": ["*"], "nonResourceURLs": ["*"]}
        status: Obj = {"resourceRules": [every], "nonResourceRules": [paths], "incomplete": False}
    else:
        status = {"allowed": True, "reason": "the simulator allows everything"}
    return {**asked, "status": status}


@cache
def _documents() -> dict[str, Obj]:
    groups = _groups()
    made: dict[str, Obj] = {
        "/": {"paths": ["/api", "/apis", "/healthz", "/openapi/v2", "/openapi/v3", "/version"]},
        "/version": VERSION,
        "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
        "/apis": {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [_group(group, version) for group, version in groups if group],
        },
        "/openapi/v2": {"swagger": "2.0", "info": {"title": "simulator", "version": "1"}, "paths": {}},
    }
    index = {}
    for (group, version), resources in groups.items():
        api = f"apis/{group}/{version}" if group else f"api/{version}"
        made[f"/{api}"] = {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": f"{group}/{version}" if group else version,
            "resources": _resources(group, resources),
        }
        if group:
            made[f"/apis/{group}"] = {"kind": "APIGroup", "apiVersion": "v1", **_group(group, version)}
        index[api] = {"serverRelativeURL": f"/openapi/v3/{api}"}
        made[f"/openapi/v3/{api}"] = _openapi(api, resources)
    made["/openapi/v3"] = {"paths": index}
    return made


@cache
def _groups() -> dict[tuple[str, str], list[Resource]]:
    ordered = sorted(RESOURCES, key=lambda each: (each.group, each.version))
    found = {key: list(each) for key, each in groupby(ordered, lambda each: (each.group, each.version))}
    return found | {_AUTHORIZATION: []}


def _group(group: str, version: str) -> Obj:
    entry = {"groupVersion": f"{group}/{version}", "version": version}
    return {"name": group, "versions": [entry], "preferredVersion": entry}


def _resources(group: str, resources: list[Resource]) -> list[Obj]:
    made: list[Obj] = []
    for each in resources:
        main: Obj = {
            "name": each.plural,
            "singularName": each.singular,
            "namespaced": each.namespaced,
            "kind": each.kind,
            "verbs": list(each.verbs),
        }
        if each.short:
            main["shortNames"] = list(each.short)
        if each.categories:
            main["categories"] = list(each.categories)
        made.append(main)
        for name, kind in _subresources(each):
            sub = {"singularName": "", "namespaced": each.namespaced, "verbs": _verbs(name)}
            made.append({"name": f"{each.plural}/{name}", "kind": kind, **_api_of(kind), **sub})
    if group == _AUTHORIZATION[0]:
        for plural, kind in _REVIEWS.items():
            review = {"name": plural, "singularName": kind.lower(), "namespaced": False, "kind": kind}
            made.append({**review, "verbs": ["create"]})
    return made


def _subresources(resource: Resource) -> list[tuple[str, str]]:
    return [*resource.others, *([("status", resource.kind)] if resource.status else ())]


def _verbs(subresource: str) -> list[str]:
    return ["create"] if subresource in ("binding", "eviction") else ["get", "patch", "update"]


def _api_of(kind: str) -> dict[str, str]:
    """Group and version of a subresource's kind where they differ from the resource's."""
    groups = {"Scale": ("autoscaling", "v1"), "Eviction": ("policy", "v1")}
    return dict(zip(("group", "version"), groups[kind], strict=True)) if kind in groups else {}


@cache
def _aggregated(*, core: bool) -> Obj:
    items = []
    for (group, version), resources in _groups().items():
        if bool(group) == core:
            continue
        entries = [_discovered(each) for each in resources]
        if (group, version) == _AUTHORIZATION:
            entries = [
                {
                    "resource": plural,
                    "responseKind": {"group": group, "version": version, "kind": kind},
                    "scope": "Cluster",
                    "singularResource": kind.lower(),
                    "verbs": ["create"],
                }
                for plural, kind in _REVIEWS.items()
            ]
        meta = {"name": group} if group else {}
        items.append(
            {
                "metadata": meta,
                "versions": [{"version": version, "resources": entries, "freshness": "Current"}],
            }
        )
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def _discovered(each: Resource) -> Obj:
    made: Obj = {
        "resource": each.plural,
        "responseKind": {"group": each.group, "version": each.version, "kind": each.kind},
        "scope": "Namespaced" if each.namespaced else "Cluster",
        "singularResource": each.singular,
        "verbs": list(CORE_VERBS),
    }
    if each.short:
        made["shortNames"] = list(each.short)
    if each.categories:
        made["categories"] = list(each.categories)
    subresources = []
    for name, kind in _subresources(each):
        api = {"group": each.group, "version": each.version} | _api_of(kind)
        subresources.append({"subresource": name, "responseKind": {**api, "kind": kind}, "verbs": _verbs(name)})
    if subresources:
        made["subresources"] = subresources
    return made


def _openapi(api: str, resources: list[Resource]) -> Obj:
    """The PATCH operations with their `fieldValidation` parameter; that is all kubectl looks for."""
    parameter = {"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}
    paths = {}
    for each in resources:
        home = "/namespaces/{namespace}" if each.namespaced else ""
        kind = {"group": each.group, "version": each.version, "kind": each.kind}
        operation = {
            "parameters": [parameter],
            "responses": {},
            "x-kubernetes-group-version-kind": kind,
        }
        paths[f"/{api}{home}/{each.plural}/{{name}}"] = {"patch": operation}
    info = {"title": "simulator", "version": "1"}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": {}}}
