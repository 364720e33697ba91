"""Keys, policies and the decision over verified signatures (X42)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from prosa.cli.main import main
from prosa.data import Value
from prosa.dialects.mda.keys import read_keys, signed_bytes
from prosa.dialects.mda.trust import Identity, distrusted, read_policy
from tests.cli.desk import desk
from tests.dialects.mda.reading import GOOD, model, sealed

SIGSTORE = {"type": "sigstore-oidc", "issuer": "https://accounts.google.com", "subject": "ada@example.org"}
HARBOUR = {"type": "did-web", "domain": "harbour.example"}
REKOR = {"url": "https://rekor.sigstore.dev"}


def policy(**fields: Value) -> str:
    return json.dumps({"version": 1, "trustedSigners": [HARBOUR]} | fields)


@pytest.mark.parametrize(
    "text",
    [
        policy(),
        policy(minSignatures=2, trustedSigners=[HARBOUR, {"type": "did-web", "domain": "pier.example"}]),
        policy(trustedSigners=[SIGSTORE], rekor=REKOR),
        policy(trustedSigners=[SIGSTORE, HARBOUR], rekor=REKOR),
    ],
)
def test_x42_a_policy_that_can_be_met(text: str):
    """X42."""
    assert read_policy(text)[1] == ()


@pytest.mark.parametrize(
    "text",
    [
        policy(version=2),
        policy(minSignatures=0),
        policy(minSignatures="1"),
        policy(trustedSigners=[]),
        policy(trustedSigners=[HARBOUR, HARBOUR]),
        policy(trustedSigners=[{"type": "sigstore-oidc", "issuer": "https://a.example"}], rekor=REKOR),
        policy(trustedSigners=[SIGSTORE]),
        policy(trustedSigners=[SIGSTORE], rekor={}),
        policy(trustedSigners=[SIGSTORE], rekor={"url": "here"}),
        policy(trustedSigners=[SIGSTORE], rekor=REKOR | {"required": False}),
        policy(rekor=REKOR),
        policy(trustedSigners=[HARBOUR | {"subject": "a"}]),
        policy(trustedSigners=[{"type": "pgp", "domain": "a.example"}]),
        policy(trustedSigners=[{"type": "did-web", "domain": "a/b"}]),
        policy(other=1),
        "[]",
        "{",
    ],
)
def test_x42_a_policy_that_cannot(text: str):
    """X42."""
    assert read_policy(text)[0] is None and read_policy(text)[1]


def test_x42_distinct_identities_count_once_and_nothing_else_does():
    """X42. The order of the reasons is that of the specification."""
    two, _ = read_policy(policy(minSignatures=2, trustedSigners=[HARBOUR, {"type": "did-web", "domain": "b.example"}]))
    one, _ = read_policy(policy())
    assert one is not None
    assert two is not None
    signed, harbour = model(sealed(GOOD)), Identity("did-web", "harbour.example")
    unsigned = model(GOOD[: GOOD.index("signatures:")] + "---\n")
    assert distrusted(signed, one, {0: harbour}, matches=True) is None
    assert distrusted(signed, one, {0: harbour}, matches=False) == "integrity-mismatch"
    assert distrusted(signed, one, {}, matches=True) == "no-trusted-signature"
    assert distrusted(signed, one, {0: Identity("did-web", "evil.example")}, matches=True) == "no-trusted-signature"
    assert distrusted(signed, two, {0: harbour}, matches=True) == "insufficient-trusted-signatures"
    assert distrusted(unsigned, one, {}, matches=True) == "missing-required-integrity"
    other = model(sealed(GOOD).replace('payload-digest: "sha256:', 'payload-digest: "sha256:' + "0" * 64, 1))
    assert distrusted(other, one, {}, matches=True) in ("missing-required-signature", "signature-digest-mismatch")


@pytest.mark.parametrize(
    "keys",
    [
        [],
        [{"key-id": "a", "algorithm": "ed25519"}],
        [{"key-id": "a", "algorithm": "dsa", "public-key": "AA=="}],
        [{"key-id": "a", "algorithm": "ed25519", "public-key": "AA==", "private-key": "no"}],
        [{"key-id": "a", "algorithm": "ed25519", "public-key": "AA==", "not-after": "later"}],
    ],
)
def test_x42_a_file_with_keys_that_is_none(keys: list[Value]):
    """X42."""
    assert read_keys(json.dumps({"keys": keys}), None)[1]


# The whole way, with keys that are made here.


def pem(key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey | ed25519.Ed25519PublicKey) -> str:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


class Signer:
    """One who signs the document with a fresh key of an algorithm."""

    def __init__(self, algorithm: str = "ed25519") -> None:
        self.algorithm = algorithm
        self.key = {
            "ed25519": ed25519.Ed25519PrivateKey.generate,
            "ecdsa-p256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "rsa-pss-sha256": lambda: rsa.generate_private_key(65537, 2048),
        }[algorithm]()

    def keys(self, **more: str) -> str:
        one = {"key-id": "desk-1", "algorithm": self.algorithm, "public-key": pem(self.key.public_key())}
        return json.dumps({"keys": [one | more]})

    def signed(self, text: str = GOOD) -> str:
        text = sealed(text.replace("algorithm: ed25519", f"algorithm: {self.algorithm}"))
        read = model(text)
        data = signed_bytes(read, read.signatures[0])
        if isinstance(self.key, ed25519.Ed25519PrivateKey):
            made = self.key.sign(data)
        elif isinstance(self.key, rsa.RSAPrivateKey):
            made = self.key.sign(data, padding.PSS(padding.MGF1(SHA256()), 32), SHA256())
        else:
            made = self.key.sign(data, ec.ECDSA(SHA256()))
        return text.replace("c2lnbmF0dXJl", base64.b64encode(made).decode())


def checked(folder: Path, text: str, keys: str, *flags: str, domain: str = "harbour.example=") -> tuple[int, str]:
    (folder / "a.mda").write_text(text.replace(text[text.index("depends-on:") : text.index("metadata:")], ""))
    (folder / "keys.json").write_text(keys)
    (folder / "policy.json").write_text(policy())
    it = desk(environ={"HOME": str(folder)})
    status = main(["check", str(folder / "a.mda"), "--keys", f"{domain}{folder / 'keys.json'}", *flags], it.console)
    return status, it.out + it.err


ALONE = GOOD.replace(GOOD[GOOD.index("depends-on:") : GOOD.index("metadata:")], "")


def verify(folder: Path, text: str, keys: str, *flags: str, domain: str = "harbour.example=") -> tuple[int, str]:
    (folder / "a.mda").write_text(text)
    (folder / "keys.json").write_text(keys)
    (folder / "policy.json").write_text(policy())
    it = desk(environ={"HOME": str(folder)})
    status = main(["check", str(folder / "a.mda"), "--keys", f"{domain}{folder / 'keys.json'}", *flags], it.console)
    return status, it.out + it.err


@pytest.mark.parametrize("algorithm", ["ed25519", "ecdsa-p256", "rsa-pss-sha256"])
def test_x42_a_signature_is_verified_with_the_keys_of_a_file(tmp_path: Path, algorithm: str):
    """X42."""
    signer = Signer(algorithm)
    status, said = verify(tmp_path, signer.signed(ALONE), signer.keys())
    assert (status, said) == (0, "Nothing found in 1 document.\n")
    policy_file = str(tmp_path / "policy.json")
    assert verify(tmp_path, signer.signed(ALONE), signer.keys(), "--trust-policy", policy_file)[0] == 0
    assert verify(tmp_path, signer.signed(ALONE), signer.keys(), "--trust-policy", policy_file, domain="")[0] == 0


def test_x42_what_does_not_verify_is_an_error(tmp_path: Path):
    """X42. Another key, a changed text, an old key, an unusable one."""
    signer = Signer()
    signed = signer.signed(ALONE)
    status, said = verify(tmp_path, signed, Signer().keys())
    assert status == 1 and "does not verify: it is not one of this document under that key" in said
    status, said = verify(tmp_path, signed.replace("See the", "See no"), signer.keys())
    assert status == 1 and "error: the digest does not match the document" in said
    old = signer.keys(**{"not-after": "2020-01-01T00:00:00Z"})
    assert "its key is not valid at present" in verify(tmp_path, signed, old)[1]
    broken = signer.keys(**{"public-key": "AAAA"})
    assert "its key cannot be used" in verify(tmp_path, signed, broken)[1]
    other = json.loads(signer.keys())
    other["keys"][0]["algorithm"] = "ecdsa-p256"
    assert "its key is for ecdsa-p256" in verify(tmp_path, signed, json.dumps(other))[1]


def test_x42_keys_of_strangers_verify_nothing(tmp_path: Path):
    """X42. A key of another domain, of another name; and what a policy makes of it."""
    signer = Signer()
    signed = signer.signed(ALONE)
    status, said = verify(tmp_path, signed, signer.keys(), domain="evil.example=")
    assert status == 0 and "is not verified: no key `desk-1` of that domain was given" in said
    status, said = verify(tmp_path, signed, signer.keys(**{"key-id": "desk-2"}))
    assert status == 0 and "warning" in said
    status, said = verify(
        tmp_path, signed, signer.keys(), "--trust-policy", str(tmp_path / "policy.json"), domain="evil.example="
    )
    assert status == 1 and "the document is not trusted: no signature was verified" in said


def test_x42_a_bad_file_is_refused_with_its_place(tmp_path: Path):
    """X42."""
    status, said = verify(tmp_path, Signer().signed(ALONE), '{"keys": [{"key-id": "a"}]}')
    assert status == 2 and "keys.json:1:11: " in said
    assert verify(tmp_path, Signer().signed(ALONE), Signer().keys(), "--fix")[0] == 2
    status, said = verify(tmp_path, Signer().signed(ALONE), '{"keys": []', "--trust-policy", "missing.json")
    assert status == 2 and "keys.json:1" in said
