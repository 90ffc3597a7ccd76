"""From a request's path to what it means: which kind, which object, which subresource."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote

from vcsched.simulator.errors import ApiError
from vcsched.simulator.resources import BY_PLURAL, Resource

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}


@dataclass(slots=True)
class Route:
    """A request on a kind, an object or a subresource; `name` is "" for a collection."""

    resource: Resource
    namespace: str
    name: str
    subresource: str
    query: dict[str, str]

    @property
    def target(self) -> str:
        """ "pods", "pods/binding", "podgroups.scheduling.volcano.sh"; the name faults go by."""
        return f"{self.resource.table}/{self.subresource}" if self.subresource else self.resource.table

    def verb(self, method: str) -> str:
        """The verb as RBAC names it."""
        if method in ("GET", "HEAD"):
            if self.query.get("watch") in ("true", "1"):
                return "watch"
            return "get" if self.name else "list"
        if method == "DELETE":
            return "delete" if self.name else "deletecollection"
        return _VERBS.get(method, method.lower())


def split(raw_path: str) -> tuple[str, dict[str, str]]:
    """Path and query of a request line."""
    path, mark, query = raw_path.partition("?")
    if "%" in path:
        path = unquote(path)
    return path, dict(parse_qsl(query, keep_blank_values=True)) if mark else {}


def route(path: str, query: dict[str, str]) -> Route:
    """The route of a path under /api or /apis. ApiError 404 for what is not served."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        raise _unknown()
    namespace = ""
    if rest[0] == "watch":  # the old form of a watch, still used by a few clients
        query = {**query, "watch": "true"}
        rest = rest[1:]
    if len(rest) > 2 and rest[0] == "namespaces" and (group or rest[2] not in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    resource = BY_PLURAL.get((group, version, rest[0])) if rest else None
    if resource is None or len(rest) > 3 or bool(namespace) > resource.namespaced:
        raise _unknown()
    name, subresource = (*rest[1:], "", "")[:2]
    if subresource and subresource not in resource.subresources:
        raise _unknown()
    return Route(resource, namespace, name, subresource, query)


def _unknown() -> ApiError:
    return ApiError(404, "the server could not find the requested resource")
