"""SHA-256 is that of `hashlib`, whichever library computes it."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest

from prosa.source import files
from prosa.source.files import MUCH, sha256

CODE = """
import sys
from prosa.source.files import MUCH, sha256
hashed = sha256(b"a")
hashed.update(b"b")
print(hashed.hexdigest(), "hashlib" in sys.modules)
print(sha256(b"ab", size=MUCH).hexdigest(), "hashlib" in sys.modules)
"""


def test_little_is_hashed_without_loading_openssl_and_much_with_it():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    digest = hashlib.sha256(b"ab").hexdigest()
    assert done.stdout == f"{digest} False\n{digest} True\n"


@pytest.mark.parametrize("data", [b"", b"ab", b"a" * MUCH], ids=["nothing", "little", "much"])
def test_python_has_the_same_function(data: bytes):
    assert files._own_sha256()(data).digest() == sha256(data).digest() == hashlib.sha256(data).digest()


def test_a_python_without_a_function_of_its_own_has_hashlib(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "_sha2", None)
    monkeypatch.setitem(sys.modules, "_sha256", None)
    assert files._own_sha256.__wrapped__() is hashlib.sha256
