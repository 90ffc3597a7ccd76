"""What is in a cluster from the start: its namespaces, ours too, and the CRDs of PodGroup and Queue.

The CRDs are for reading (clients look whether they are there); the kinds themselves are in `resources`.
"""

from __future__ import annotations

from vcsched.simulator.resources import RESOURCES, Resource
from vcsched.simulator.store import Obj

_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system", "volcano-system")


def objects() -> list[Obj]:
    """The objects, to be loaded as they are."""
    return [
        *map(_namespace, _NAMESPACES),
        *(_definition(each) for each in RESOURCES if each.columns is not None),
    ]


def _namespace(name: str) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def _definition(resource: Resource) -> Obj:
    names = {
        "kind": resource.kind,
        "listKind": f"{resource.kind}List",
        "plural": resource.plural,
        "singular": resource.singular,
        "shortNames": list(resource.short),
    }
    columns = [
        {"name": column.name, "type": column.type, "jsonPath": f".{column.path}"}
        | ({"priority": 1} if column.wide else {})
        for column in resource.columns or ()
    ]
    version: Obj = {
        "name": resource.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        "subresources": {"status": {}} if resource.status else {},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": resource.table},
        "spec": {
            "group": resource.group,
            "names": names,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [version],
        },
        "status": {
            "acceptedNames": names,
            "storedVersions": [resource.version],
            "conditions": [
                {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts"},
                {"type": "Established", "status": "True", "reason": "InitialNamesAccepted"},
            ],
        },
    }
