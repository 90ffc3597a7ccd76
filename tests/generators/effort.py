"""How hard property tests try: a few seconds a file by default, `EFFORT=20 pytest …` for a soak."""

from __future__ import annotations

import os

from hypothesis import settings

EFFORT = int(os.environ.get("EFFORT", "1"))


def examples(count: int) -> settings:
    """Settings for a property that is tried `count` times, times the effort."""
    return settings(max_examples=count * EFFORT, deadline=None)
