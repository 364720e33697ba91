"""Writes what `prosa-core`, `prosa` and `prosa-sandbox` consist of, as CycloneDX; their wheels carry it.

In: the lock, the projects, what is installed, and the table of what the interpreter bundles. Out: three files that
hatchling copies to `.dist-info/sboms/` (PEP 770). They say the versions that Prosa is tested with. Run
`make lock`, which calls this, after a version has changed; the same input gives the same bytes.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageMetadata, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "prosa-core": ROOT / "packaging" / "prosa-core.cdx.json",
    "prosa": ROOT / "packaging" / "prosa" / "prosa.cdx.json",
    "prosa-sandbox": ROOT / "sandbox" / "prosa-sandbox.cdx.json",
}
OURS = {"prosa-core": ".", "prosa-sandbox": "sandbox"}
"""Distributions of ours that `prosa` needs, and where they are."""

LICENSE = "Apache-2.0"
_APACHE_OR_MIT = "MIT OR Apache-2.0"
_LLVM = "Apache-2.0 WITH LLVM-exception"

BUNDLED: dict[str, tuple[str, str]] = {
    "generic/cpython": ("3.14.0", "PSF-2.0"),
    "generic/expat": ("2.7.3", "MIT"),
    "generic/hacl-star": ("", "MIT"),
    "generic/libmpdec": ("2.5.1", "BSD-2-Clause"),
    "generic/libcxx": ("22.1.0", _LLVM),
    "generic/sqlite": ("3.51.2", "blessing"),
    "generic/wasi-libc": ("", f"{_LLVM} AND MIT AND BSD-2-Clause AND BSD-3-Clause AND CC0-1.0"),
    "generic/zlib": ("1.3.1", "Zlib"),
    "cargo/anyhow": ("1.0.102", _APACHE_OR_MIT),
    "cargo/num-bigint": ("0.4.6", _APACHE_OR_MIT),
    "cargo/once_cell": ("1.21.4", _APACHE_OR_MIT),
    "cargo/pyo3": ("0.28.3", _APACHE_OR_MIT),
    "cargo/rustc-demangle": ("0.1.27", _APACHE_OR_MIT),
    "pypi/componentize-py": ("0.25.1", _LLVM),
    "pypi/tzdata": ("2026.6", "Apache-2.0"),
}
"""What the interpreter bundles: type and name of the package, version where it says one, licence. `sandbox/licenses`
has the texts, and a test asks the interpreter for its versions."""


def main() -> None:
    """Write the three files."""
    locked = dict(
        re.findall(
            r"^([a-z0-9-]+)(?:\[[a-z0-9,-]+\])?==([\w.]+)",
            (ROOT / "requirements" / "run.lock").read_text(),
            re.MULTILINE,
        )
    )
    core, sandbox = (_project(folder) for folder in OURS.values())
    tools = [line for line in (ROOT / "requirements" / "run.in").read_text().splitlines() if not line.startswith("#")]
    building = _closure(tools)
    ours = {"prosa-core": core["version"], "prosa-sandbox": sandbox["version"]}
    reading = _closure(core["dependencies"])
    _write("prosa-core", core["version"], {name: locked[name] for name in reading})
    _write("prosa", core["version"], {name: pin for name, pin in locked.items() if name not in building} | ours)
    _write_interpreter(sandbox["version"])


def _project(folder: str) -> dict[str, Any]:
    """Return what a distribution says of itself."""
    project: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def _closure(lines: list[str]) -> set[str]:
    """Return the names of what is asked for, with all that it needs in turn."""
    found: set[str] = set()
    waiting = [canonicalize_name(Requirement(line).name) for line in lines]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_needs(name))
    return found


def _needs(name: str) -> Iterator[str]:
    """Yield what a distribution depends on here, without its extras. Ours are read from their project, installed or
    not."""
    if name.startswith("prosa-"):
        yield from (canonicalize_name(Requirement(line).name) for line in _project(OURS[name]).get("dependencies", ()))
        return
    try:
        lines = distribution(name).requires or ()
    except PackageNotFoundError:  # of another system
        return
    for need in map(Requirement, lines):
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            yield canonicalize_name(need.name)


def _write(name: str, version: str, pins: Mapping[str, str]) -> None:
    bom = _bom(name, version)
    parts = {each: _python(each, pin) for each, pin in sorted(pins.items())}
    bom.components.update(parts.values())
    for each, part in parts.items():
        bom.register_dependency(part, [parts[need] for need in sorted(set(_needs(each))) if need in parts])
    needed = {need for each in parts for need in _needs(each)}
    bom.register_dependency(bom.metadata.component, [part for each, part in parts.items() if each not in needed])
    _save(name, bom)


def _write_interpreter(version: str) -> None:
    bom = _bom("prosa-sandbox", version)
    for place, (pin, licence) in BUNDLED.items():
        kind, _, name = place.partition("/")
        bom.components.add(_part(PackageURL(kind, None, name, pin or None), licence))
    bom.register_dependency(bom.metadata.component, bom.components)
    _save("prosa-sandbox", bom)


def _bom(name: str, version: str) -> Bom:
    purl = PackageURL("pypi", None, name, version)
    bom = Bom(serial_number=uuid5(NAMESPACE_URL, purl.to_string()))
    bom.metadata.component = _part(purl, LICENSE, ComponentType.APPLICATION)
    return bom


def _python(name: str, version: str) -> Component:
    try:
        licence = LICENSE if name.startswith("prosa-") else _licence(distribution(name).metadata)
    except PackageNotFoundError:  # of another system
        licence = ""
    return _part(PackageURL("pypi", None, name, version), licence)


def _licence(about: PackageMetadata) -> str:
    """Return the licence that a distribution declares: its expression, else its classifier, else its first line about
    it."""
    kinds = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or () if line.startswith("License :: ")]
    return str(about.get("License-Expression") or ", ".join(kinds) or (about.get("License") or "").partition("\n")[0])


def _part(purl: PackageURL, licence: str, kind: ComponentType = ComponentType.LIBRARY) -> Component:
    licences = [LicenseFactory().make_from_string(licence)] if licence else []
    return Component(
        name=purl.name, version=purl.version, type=kind, purl=purl, bom_ref=purl.to_string(), licenses=licences
    )


def _save(name: str, bom: Bom) -> None:
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1)
    about = json.loads(text)
    del about["metadata"]["timestamp"]  # the same input gives the same bytes
    text = json.dumps(about, indent=1, sort_keys=True) + "\n"
    if problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise SystemExit(f"{FILES[name]}: {problem}")
    FILES[name].write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
