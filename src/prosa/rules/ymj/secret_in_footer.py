"""`secret-in-footer`: a secret below `ops.encryption`, `ops.signature` or `ops.data_signature` (Y20)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.data import Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject

_PLACES = ("encryption", "signature", "data_signature")
_SECRETS = re.compile(
    r"(?:.*_)?(?:secret|password|passphrase|private_key|secret_key|api_key|token)", re.IGNORECASE | re.DOTALL
)
_REFERENCE = re.compile(r"[A-Za-z][\w+.-]*:.*|[\w.@-]*[/#][\w./#@-]*|\$\{?\w+\}?", re.DOTALL)
_LONG = re.compile(r"[A-Za-z0-9+/=_-]{32,}")
_PEM = "-----BEGIN"


def check(subject: Subject) -> Iterator[Problem]:
    """At each value that is a secret by its name or its look. A reference such as `kms://keys/7` is none."""
    model: YmjModel = subject.model
    for name in _PLACES:
        entry = model.ops.get(name)
        for key, value in _texts(entry.value) if entry is not None else ():
            if _is_secret(key, value.text):
                message = f"`{key}` looks like a secret; a record holds references to keys only"
                note = "whoever could read this file knows it: replace it at its source"
                yield Problem("secret-in-footer", message, value.span, (note,))


def _is_secret(key: str, text: str) -> bool:
    """By its name and not a reference, a long `key`, or the text of a key in PEM."""
    if _PEM in text:
        return True
    named = _SECRETS.fullmatch(key) is not None and _REFERENCE.fullmatch(text) is None
    return named or (key.lower() == "key" and _LONG.fullmatch(text) is not None)


def _texts(node: Node, name: str = "") -> Iterator[tuple[str, Scalar]]:
    """Every string below a node with the key it stands under; readers bound the depth."""
    if isinstance(node, Scalar):
        if isinstance(node.value, str):
            yield name, node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _texts(item, name)
    elif isinstance(node, Mapping):
        for entry in node:
            yield from _texts(entry.value, entry.key.text)
