"""Which sub-group of its job a pod belongs to (spec 01 §4).

The first policy whose selector and keys fit decides; a pod that fits none is in the default sub-job.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from vcsched.model.selectors import LabelRule, compile_label_selector

if TYPE_CHECKING:
    from vcsched.kube.objects import LabelSelector, SubGroupPolicy

_LONGEST = 128
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def assignment(job_key: str, policies: tuple[SubGroupPolicy, ...], labels: Mapping[str, str]) -> tuple[str, str, int]:
    """(policy name, sub-job key, match index) of a pod with these labels; ("", job key, 0) for the default one."""
    for policy in policies:
        values = _match(policy, labels)
        if values is not None:
            return policy.name, f"{job_key}/{policy.name}-{_joined(values)}", _index(values[0])
    return "", job_key, 0


def _match(policy: SubGroupPolicy, labels: Mapping[str, str]) -> tuple[str, ...] | None:
    """The values of the policy's keys, or None. A policy without keys never matches."""
    if not policy.match_label_keys:
        return None
    if policy.label_selector is not None and not _rule(policy.label_selector).matches(labels):
        return None
    values = tuple(labels.get(key, "") for key in policy.match_label_keys)
    return values if all(values) else None


def _rule(selector: LabelSelector) -> LabelRule:
    return compile_label_selector(selector)


@lru_cache(maxsize=4096)
def _joined(values: tuple[str, ...]) -> str:
    joined = "-".join(values)
    if len(joined.encode()) <= _LONGEST:
        return joined
    return "".join(_ALPHABET[ord(c) % len(_ALPHABET)] for c in str(_fnv1a_32(joined.encode())))


def _fnv1a_32(data: bytes) -> int:
    digest = 0x811C9DC5
    for byte in data:
        digest = (digest ^ byte) * 0x01000193 & 0xFFFFFFFF
    return digest


def _index(value: str) -> int:
    try:
        return int(value)
    except ValueError:
        return 0
