"""Copy the generated and targeted cases into the project, packed: `python -m tests.cases.copy_data`.

The folder `unit/` is re-expressed from the reference's own tests and is never copied.
"""

from __future__ import annotations

import json
import lzma
import sys
from pathlib import Path

from .loader import PACKED, SHARED

FOLDERS = ("generated", "targeted")


def copy(source: Path, target: Path) -> int:
    """Pack every file of the two folders; returns the bytes written."""
    written = 0
    for folder in FOLDERS:
        (target / folder).mkdir(parents=True, exist_ok=True)
        kept = set()
        for path in sorted((source / folder).glob("*.json")):
            text = json.dumps(json.loads(path.read_bytes()), separators=(",", ":")).encode()
            packed = target / folder / f"{path.name}.xz"
            packed.write_bytes(lzma.compress(text, preset=9))
            kept.add(packed)
            written += packed.stat().st_size
        for stale in set((target / folder).iterdir()) - kept:
            stale.unlink()
    return written


if __name__ == "__main__":
    if not SHARED.is_dir():
        sys.exit(f"{SHARED} is not there; nothing to copy")
    print(f"{copy(SHARED, PACKED):,} bytes in {PACKED}")
