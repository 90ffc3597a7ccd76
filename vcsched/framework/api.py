"""All that a plugin of one's own needs, to import from one place.

    from vcsched.framework.api import Fit, Node, Plugin, Session, Task

`Plugin` is the base class, `Session` what `open` and `close` get; `framework.points` lists what can be
registered, `framework.plugin` says what the functions are given. `examples/plugins/` has three to start from.
"""

from vcsched.columns.journal import ALLOCATE, EVICT, PIPELINE, Ledger, Op, Refused
from vcsched.framework.arguments import Arguments
from vcsched.framework.plugin import ABSTAIN, PERMIT, REJECT, Ask, Nodes, Plugin, Verdict, compare, shared_by
from vcsched.framework.points import EvictionContext, Invalid
from vcsched.framework.session import Session
from vcsched.kube.objects import Pod
from vcsched.model.form import Form, Shape
from vcsched.model.job import Job
from vcsched.model.node import Node
from vcsched.model.queue import Queue
from vcsched.model.status import ERROR, UNRESOLVABLE, UNSCHEDULABLE, Fit
from vcsched.model.subjob import SubJob
from vcsched.model.task import Request, Task

__all__ = [
    "ABSTAIN",
    "ALLOCATE",
    "ERROR",
    "EVICT",
    "PERMIT",
    "PIPELINE",
    "REJECT",
    "UNRESOLVABLE",
    "UNSCHEDULABLE",
    "Arguments",
    "Ask",
    "EvictionContext",
    "Fit",
    "Form",
    "Invalid",
    "Job",
    "Ledger",
    "Node",
    "Nodes",
    "Op",
    "Plugin",
    "Pod",
    "Queue",
    "Refused",
    "Request",
    "Session",
    "Shape",
    "SubJob",
    "Task",
    "Verdict",
    "compare",
    "shared_by",
]
