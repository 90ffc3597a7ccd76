"""The daemon's I/O process: `kube.ioserver` with the daemon's log and its ways with the garbage collector.

It remembers each object that the session thread was told, and so has as much to look through as the picture.
What it makes is freed by reference counts; a collection in the middle of 2,000 binds a second helps nobody.
"""

from __future__ import annotations

import gc

from vcsched.daemon import klog
from vcsched.daemon.gcpolicy import YOUNG
from vcsched.kube import ioserver


def main() -> None:
    """Serve until the daemon says stop, or is gone."""
    klog.set_up(0)  # the level comes with the settings
    gc.set_threshold(YOUNG, 50, 1_000)
    ioserver.main()


if __name__ == "__main__":
    main()
