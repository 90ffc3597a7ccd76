"""The dump: the whole picture for people and tools, as a JSON file or in the log (spec 02 §19).

Made between sessions, so it is what a session would see. The first six lines of the file are the documents
of the reference under the names of its fields; the seventh has what those leave out: queues, jobs that take
no part, pods whose node has not come, refused objects, writes in flight, what each job is held back by.
Nothing secret gets in: the picture has no environment of containers, and annotations that repeat the whole
object are left out. Only the owner may read the file, and it appears whole or not at all.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from vcsched.cache.dumper import texts
from vcsched.cache.dumper.beyond import beyond
from vcsched.cache.dumper.jobs import job_document
from vcsched.cache.dumper.nodes import count_images, node_document
from vcsched.cache.dumper.values import Resources, encode, encode_map

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache

log = logging.getLogger(__name__)


def dump_json(cache: SchedulerCache, directory: str | os.PathLike[str]) -> Path:
    """Write `snapshot-<unix seconds>.json` into the directory and return its path. Raises `OSError`."""
    path = Path(directory) / f"snapshot-{int(cache.clock())}.json"
    handle, made = tempfile.mkstemp(dir=directory, prefix=".snapshot-", suffix=".json")
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in _documents(cache):
                file.write(piece)
        os.replace(made, path)
    except BaseException:
        os.unlink(made)
        raise
    return path


def dump_log(cache: SchedulerCache) -> None:
    """Write nodes, jobs and a few numbers to the log, at info level."""
    picture = cache.picture
    log.info("Dump of nodes info in scheduler cache")
    for node in picture.nodes_by_name.values():
        log.info("%s", texts.node_text(picture, node))
    log.info("Dump of jobs info in scheduler cache")
    for job in picture.jobs.values():
        log.info("%s", texts.job_text(picture, job))
    log.info("Dump of hyperNodes info in scheduler cache")
    log.info("%s", texts.statistics(cache))


def _documents(cache: SchedulerCache) -> Iterator[bytes]:
    """Six documents and ours, one a line, piece by piece."""
    picture = cache.picture
    resources = Resources(picture.space)
    images = count_images(picture)
    yield from encode_map(
        (name, node_document(picture, node, resources, images)) for name, node in sorted(picture.nodes_by_name.items())
    )
    for _ in ("hypernode names by tier", "tier name -> tier", "real nodes", "hypernodes"):
        yield encode({})  # a flat cluster
    yield from encode_map((key, job_document(picture, job, resources)) for key, job in sorted(picture.attached.items()))
    yield encode(beyond(cache, resources))
