"""Reading case files (format: shared/cases/README.md), plain or packed with xz."""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1
HERE = Path(__file__).parent
PACKED = HERE / "data"  # made by copy_data.py; has generated/ and targeted/
SHARED = HERE.parents[2] / "shared" / "cases"


@dataclass(frozen=True)
class Case:
    """One situation with what must come out. `family` is folder and file, as `generated/gang`."""

    family: str
    name: str
    data: dict[str, Any] = field(repr=False)
    tiers: list[dict[str, Any]] = field(repr=False)

    @property
    def expect(self) -> dict[str, Any]:
        expect: dict[str, Any] = self.data["expect"]
        return expect

    @property
    def actions(self) -> list[str]:
        actions: list[str] = self.data["actions"]
        return actions

    @property
    def objects(self) -> list[dict[str, Any]]:
        objects: list[dict[str, Any]] = self.data["objects"]
        return objects

    @property
    def options(self) -> dict[str, Any]:
        return self.data.get("options") or {}

    @property
    def sessions(self) -> int:
        return int(self.data.get("sessions", 1))

    def plugins(self) -> Iterator[dict[str, Any]]:
        """The plugin entries of all tiers."""
        for tier in self.tiers:
            yield from tier["plugins"]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [obj for obj in self.objects if obj["kind"] == kind]


@functools.cache
def read_file(path: Path) -> tuple[Case, ...]:
    """The cases of one file; ValueError if it has another format."""
    text = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    content = json.loads(text)
    if content.get("format") != FORMAT:
        raise ValueError(f"{path}: format is {content.get('format')!r}; this loader reads {FORMAT}")
    family = f"{path.parent.name}/{path.name.split('.')[0]}"
    tier_sets = content["tierSets"]
    return tuple(Case(family, data["name"], data, tier_sets[data["tiers"]]) for data in content["cases"])


def files(folder: Path) -> list[Path]:
    """The case files of a folder and its folders, by name."""
    return sorted(path for path in folder.rglob("*.json*") if path.suffix in (".json", ".xz"))


def default_folder() -> Path:
    """The shared folder where it is there, else the packed copy of its generated and targeted cases."""
    return SHARED if SHARED.is_dir() else PACKED
