"""Signatures by public keys, with `cryptography`, which the extra `signatures` installs. Nothing is fetched."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import TypeAlias


class UnusableKey(ValueError):
    """A public key that cannot be read, or is not for the algorithm that it names."""


def verifies(algorithm: str, key: str, signature: str, data: bytes) -> bool:
    """Return whether a signature in Base64 is one of these data under a key: PEM, or the bytes of one of Ed25519 in
    Base64. Raises `UnusableKey`."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    try:
        verify = _VERIFIERS[algorithm](key)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UnusableKey(f"it cannot be read: {error}") from None
    if verify is None:
        raise UnusableKey(f"it is not a key for {algorithm}")
    try:
        verify(base64.b64decode(signature, validate=True), data)
    except (InvalidSignature, binascii.Error):
        return False
    return True


_Verify: TypeAlias = Callable[[bytes, bytes], None]


def _ed25519(text: str) -> _Verify | None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if "-----BEGIN" not in text:
        return Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True)).verify
    key = load_pem_public_key(text.encode())
    return key.verify if isinstance(key, Ed25519PublicKey) else None


def _ecdsa(text: str) -> _Verify | None:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = load_pem_public_key(text.encode())
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        return None
    return lambda signature, data: key.verify(signature, data, ec.ECDSA(SHA256()))


def _rsa(text: str) -> _Verify | None:
    from cryptography.hazmat.primitives.asymmetric import padding, rsa
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = load_pem_public_key(text.encode())
    if not isinstance(key, rsa.RSAPublicKey):
        return None
    pss = padding.PSS(padding.MGF1(SHA256()), padding.PSS.AUTO)
    return lambda signature, data: key.verify(signature, data, pss, SHA256())


_VERIFIERS: Mapping[str, Callable[[str], _Verify | None]] = {
    "ed25519": _ed25519,
    "ecdsa-p256": _ecdsa,
    "rsa-pss-sha256": _rsa,
}
