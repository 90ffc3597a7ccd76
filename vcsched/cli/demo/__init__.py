"""`vcsched demo`: the main job, shown live on an embedded cluster, with nothing to install.

`story` says what is submitted and what must come of it, `stage` runs the processes, `audience` follows the
API as any user could, `view` draws.
"""

from vcsched.cli.demo.command import demo

__all__ = ["demo"]
