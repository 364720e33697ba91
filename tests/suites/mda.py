"""The conformance suite of MDA, from an unpacked copy of its repository: what it demands of validators, of the trusted
runtime as far as it needs no network, and of compilers.

It holds `conformance/manifest.yaml`; `git archive v1.0.0-rc.3 | tar x -C DIR/mda` makes one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import gather
from prosa.app.convert.convert import ConvertOptions, convert_documents
from prosa.convert.mda import COMPILED
from prosa.data import Value, read_yaml, to_value
from prosa.diagnostics import Diagnostic, Severity
from prosa.dialects.mda.fields import DID_WEB
from prosa.dialects.mda.trust import Identity, distrusted, read_policy
from prosa.dialects.reading import open_as
from prosa.dialects.table import MDA
from prosa.source import SourceText
from tests.suites.suite import Outcome, stated_version

TARGETS = {
    "frontmatter-skill-md": "SKILL.md",
    "frontmatter-agents-md": "AGENTS.md",
    "frontmatter-mcp-server-md": "MCP-SERVER.md",
}
"""The schemas that a fixture names, and the file that it stands for."""

EXTRACTED = {"unclosed-front-matter": "unterminated-frontmatter", "yaml-syntax": "frontmatter-yaml-parse-error"}

EXAMPLES = (
    "source-only/intro.mda",
    "source-only/node-tools.mda",
    "skill-md/intro/SKILL.md",
    "skill-md/node-tools/SKILL.md",
)
"""What the suite's own runner checks besides."""


def mda(place: Path) -> Outcome:
    """Try every fixture of the manifest, and the examples that the suite's own runner checks."""
    suite = place / "conformance"
    manifest = to_value(read_yaml((suite / "manifest.yaml").read_text(encoding="utf-8")).node)
    wrong = {each["id"]: _wrong(suite, each) for each in manifest["fixtures"]}
    for name in EXAMPLES:
        path = place / "examples" / name
        if path.is_file():
            wrong[f"examples/{name}"] = _verdict("accept", _errors(path.read_bytes(), path.name))
    differing = tuple(f"{name}: {words}" for name, words in wrong.items() if words)
    return Outcome(stated_version(place), len(wrong), differing)


def _wrong(suite: Path, fixture: Mapping[str, Value]) -> str:
    if fixture["verdict"] == "equal":
        return "; ".join(_differing(suite, fixture))
    data = (suite / fixture["path"]).read_bytes()
    if fixture["path"].endswith(".json"):
        problems = read_policy(data.decode())[1]
        return _verdict(fixture["verdict"], [each.rule for each in problems])
    name = next((TARGETS[key] for key in TARGETS if key in " ".join(fixture.get("against", ()))), "fixture.mda")
    found = _errors(data, name)
    wanted = fixture.get("extraction-expected")
    if wanted is not None and (got := _extraction(data, found)) != wanted:
        return f"extraction gives {got}, not {wanted}"
    if "trusted-runtime-policy" in fixture.get("semantic-checks", ()):
        found += _distrust(suite, fixture, data.decode())
    expected = fixture.get("expected-error")
    if expected is not None and expected not in found:
        return f"found {found}, not {expected}"
    return _verdict(fixture["verdict"], found)


def _verdict(wanted: str, errors: Sequence[str]) -> str:
    got = "reject" if errors else "accept"
    return "" if got == wanted else f"{got} {list(errors)}, not {wanted}"


def _errors(data: bytes, name: str) -> list[str]:
    """Return the rules with errors in a file of that name, in a folder with the name that it gives itself."""
    with TemporaryDirectory() as folder:
        text = data.decode(errors="replace")
        named = open_as(SourceText(text, name), MDA).model.text("name")
        path = Path(folder) / (named or "document") / name
        path.parent.mkdir()
        path.write_bytes(data)
        checker = Checker.of(CheckOptions(profile="mda"), {})
        return [each.rule for each in _found(checker, path) if each.severity is Severity.ERROR]


def _found(checker: Checker, path: Path) -> Sequence[Diagnostic]:
    return checker.diagnostics([*gather([path])])


def _extraction(data: bytes, errors: Sequence[str]) -> str:
    """Return what came of the front matter, in the words of the suite."""
    if "unreadable-file" in errors:
        return "invalid-encoding"
    named = next((EXTRACTED[each] for each in errors if each in EXTRACTED), "")
    front = open_as(SourceText(data.decode(), "fixture.mda"), MDA).front
    return named or ("ok" if front.present else "no-frontmatter")


def _distrust(suite: Path, fixture: Mapping[str, Value], text: str) -> list[str]:
    """Return why the policy of a fixture does not trust it. The suite verifies no signature: those of Sigstore are of
    whom it says, and those of `did-web` of whom they claim."""
    policy, problems = read_policy((suite / fixture["runtime-policy"]).read_text(encoding="utf-8"))
    if policy is None:
        return ["trust-policy-violation"] if problems else []
    model = open_as(SourceText(text, "fixture.mda"), MDA).model
    verified = {
        number: Identity("did-web", each.signer.removeprefix(DID_WEB))
        for number, each in enumerate(model.signatures)
        if each.signer.startswith(DID_WEB)
    }
    for each in fixture.get("verified-identities", ()):
        verified[each["signature-index"]] = Identity(each["type"], each["issuer"], each["subject"])
    reason = distrusted(model, policy, verified, matches=True)
    return [reason] if reason is not None else []


def _differing(suite: Path, fixture: Mapping[str, Value]) -> Iterator[str]:
    """Yield the compiled files that are not those of the suite, byte for byte."""
    source = suite / fixture["input"]
    expected = suite / fixture["expected_dir"]
    made: dict[str, str] = {}
    forms = [form for form, name in COMPILED.items() if name in fixture["targets"]]
    for form in forms:
        options = ConvertOptions(target=form, output=Path("out"), into=True)
        (result,) = convert_documents([SourceText(source.read_text(encoding="utf-8"), str(source))], options)
        if result.problem:
            yield result.problem
        made |= {each.path.name: each.text for each in result.files if each.path is not None}
    for path in sorted(expected.iterdir()):
        if made.get(path.name, "").encode() != path.read_bytes():
            yield f"{path.name} differs"
