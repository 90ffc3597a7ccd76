"""What the cache is told once at start."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """Names served and defaults; the daemon fills this from its flags."""

    scheduler_names: tuple[str, ...] = ("volcano",)
    default_queue: str = "default"
    node_selector: tuple[tuple[str, str], ...] = ()  # (label, value), any of them; empty: every node
    bare_pods: bool = True  # pods without PodGroup get a group kept in the cache (design-notes §7 row 28)

    @property
    def component(self) -> str:
        """Name that events and the eviction condition carry."""
        return self.scheduler_names[0] if len(self.scheduler_names) == 1 else "volcano"
