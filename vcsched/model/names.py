"""Which texts Kubernetes accepts as keys of labels, taints and resources.

A qualified name is an optional DNS domain and a slash, then up to 63 letters, digits, `-`, `_` and `.`,
with a letter or digit at both ends. The API server checks this in its own objects; selectors inside
custom resources reach us unchecked. Spec 01 §1.3, spec 06 §2.9.
"""

from __future__ import annotations

import re
from functools import lru_cache

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)


@lru_cache(maxsize=8192)
def is_qualified_name(text: str) -> bool:
    """Whether `text` may be the key of a label, as `zone` and `topology.kubernetes.io/zone` may."""
    domain, slash, name = text.rpartition("/")
    if slash and (len(domain) > 253 or not _DOMAIN.fullmatch(domain)):
        return False
    return len(name) <= 63 and _NAME.fullmatch(name) is not None
