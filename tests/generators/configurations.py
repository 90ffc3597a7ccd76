"""Scheduler configurations that stories run under."""

from vcsched.framework.conf_loader import BUILT_IN

EVERYTHING = """
actions: "enqueue, allocate, preempt, reclaim, backfill, shuffle"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: sla
  - name: pdb
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
    arguments:
      mostrequested.weight: 3
  - name: binpack
    arguments:
      binpack.resources: nvidia.com/gpu
  - name: resourcequota
"""

CAPACITY = EVERYTHING.replace("name: proportion", "name: capacity")

CONFIGURATIONS = {"built in": BUILT_IN, "everything": EVERYTHING, "capacity": CAPACITY}
