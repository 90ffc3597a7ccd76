"""The oracle: the plain scheduling algorithm, pod by pod and node by node, in obvious, slow Python.

It is written from `docs/spec` alone, uses the standard library only and imports nothing from `vcsched`, so
that an error in the product cannot hide in it. It takes a case (Kubernetes objects, tiers, actions; see
tests/cases) and gives the outcome of one session. Where the reference is free (exact ties, map orders) a seed
decides, so several seeds give a set of permitted outcomes; `run.permitted` collects it.

| files | spec |
|---|---|
| `quantity` `resources` `selectors` `task` `job` `node` `queue` | 01 the data model |
| `session` `points` `heap` `statement` `search` `close` `choices` | 03 the framework, 04 §2 |
| `hypernodes` | 03 §2.1-2.3, 07 §3-4 |
| `actions/` | 04, one file an action |
| `plugins/` | 05, 06, 07, one file a plugin |
| `run` | a whole case; the command line that runs and compares case files |
| `mutate` | breaks one rule at a time and says which cases notice |

Not in it: DRA allocation on nodes, volumes, devices, NUMA, rescheduling, extender, image scores, node
sampling above a hundred nodes, feature gates switched on. It always decides as the reference does
(`profile: reference`).
"""
