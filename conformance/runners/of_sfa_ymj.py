"""A runner of the YMJ toolkit of the format's author: `python -m conformance.runners.of_sfa_ymj`.

`sfa_ymj.py` of https://github.com/mnemosyneAI/sfa-toolkit has to be importable, and PyYAML.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from sfa_ymj import YMJDocument

from conformance.runners.lines import Rejected, Unsupported, loop


def do(name: str, op: str, given: dict[str, Any]) -> Any:
    """Answer one request. It has one mode, no selectors, and no list of attachments or links."""
    if (name, op) != ("ymj", "read"):
        raise Unsupported
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "document.ymj"
        file.write_bytes(given["text"].encode("utf-8"))
        found = YMJDocument(str(file))
    if not found.valid_structure:
        raise Rejected
    header = {key: str(value) for key, value in found.header.items()} if isinstance(found.header, dict) else {}
    return {
        "header": header,
        "body": found.body,
        "body_sha256": found.calculate_hash(),
        "footer": found.footer,
    }


if __name__ == "__main__":
    loop(do)
