"""Skills in a run (X32): their description for the model, and the tools to read and use one.

In: skills as values, and the ports that open their files and run their scripts. Out: text for the system message, and
tools. Disclosure is progressive: an offered skill shows its name and description, and its instructions when the model
loads it. Only the Python scripts of a skill run. The text of a skill is data: no template in it is expanded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, Required, TypedDict, cast

from msgspec import Struct

from prosa.data import Value
from prosa.dialects.skill_md.arguments import FOLDER, Arguments, filled
from prosa.runtime.events import LOAD_TOOL
from prosa.runtime.limits import Limits
from prosa.runtime.messages import ToolSpec
from prosa.runtime.ports import MOUNT, Sandbox, SkillFiles, SteadyTool, Tool, ToolResult
from prosa.runtime.python_tool import result_of

READ_TOOL = "skill_read"
RUN_TOOL = "skill_run"

MAX_TOLD = 200
"""Maximum number of files of a skill that are listed for a model; it finds the others with `skill_read` of
their folder."""

MAX_DESCRIPTION = 1_536
"""Characters of a description that are shown among those of other skills."""

CHOOSE = (
    "Skills hold instructions for certain kinds of request. Where one of them fits the request, load it with the tool "
    f"`{LOAD_TOOL}` before you do anything else, then follow its instructions. Load none that does not fit."
)
FOLLOW = "Follow the instructions of the skill `{name}`, which are below."
ABSENT = (
    "There is no shell here, and no tool but those you are offered: what the skill wants done by others, do with these "
    "as far as they go, and say what could not be done."
)


class Skill(Struct, frozen=True):
    """A skill that a program may use. ``folder`` is the real path of its folder, ``files`` are the paths of the other
    files below it, as far as they are known, and ``scripts`` those that the sandbox can run. ``arguments`` is where a
    request goes in its ``instructions``. A ``chosen`` one is active from the first request on. ``unavailable`` is what
    it needs and cannot get here, in words. ``altered``: its instructions are not those of its file, which is not
    shown."""

    name: str
    description: str
    instructions: str
    folder: str
    files: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    arguments: Arguments | None = None
    chosen: bool = False
    unavailable: tuple[str, ...] = ()
    altered: bool = False

    def text(self, request: str = "") -> str:
        """Return its instructions as a model reads them, with the request where they want it."""
        text = self.instructions.replace(FOLDER, MOUNT)
        return text if self.arguments is None else filled(text, request, self.arguments)


# The text in the system message.


def skills_text(skills: Sequence[Skill]) -> str:
    """Return the text about skills for the model; empty if there are none."""
    return "\n\n".join(part for part in (_chosen_text(skills), _offered_text(skills)) if part)


def _chosen_text(skills: Sequence[Skill]) -> str:
    return "\n\n".join(
        part
        for skill in skills
        if skill.chosen
        for part in (preamble(skill), "" if skill.arguments is not None else skill.text())
        if part
    )


def _offered_text(skills: Sequence[Skill]) -> str:
    offered = [skill for skill in skills if not skill.chosen]
    if not offered:
        return ""
    return "\n".join((CHOOSE, "", *(f"- {skill.name}: {_one_line(skill.description)}" for skill in offered)))


def preamble(skill: Skill) -> str:
    """Return what stands above the instructions of a skill: which it is, and what there is of it."""
    lines = [f"{FOLLOW.format(name=skill.name)} {ABSENT}"]
    if skill.files:
        lines.append(f"Its files, read with `{READ_TOOL}`: {_listed(skill.files)}.")
    if skill.scripts:
        lines.append(f"Its scripts, run with `{RUN_TOOL}`: {_listed(skill.scripts)}.")
    return "\n".join(lines)


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - MAX_TOLD} more" if len(paths) > MAX_TOLD else ""
    return ", ".join(paths[:MAX_TOLD]) + more


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_DESCRIPTION else f"{line[: MAX_DESCRIPTION - 1]}…"


# The tools. Their names are fixed, so that what loads a skill can be seen in the events of any run.


def skill_tools(
    skills: Sequence[Skill], files: SkillFiles | None, sandbox: Sandbox | None, limits: Limits
) -> Iterator[Tool]:
    """Yield the tools of a program with these skills: those of them that can have a use."""
    offered = {skill.name: skill for skill in skills if not skill.chosen}
    if offered:
        yield LoadTool(offered, load_spec(tuple(offered.values())))
    if files is not None and (readable := {skill.name: skill for skill in skills if skill.files}):
        yield ReadTool(readable, files, read_spec(tuple(readable)), limits)
    if sandbox is not None and (running := {skill.name: skill for skill in skills if skill.scripts}):
        yield ScriptTool(running, sandbox, run_spec(tuple(running.values())), limits)


def skill_specs(skills: Sequence[Skill]) -> Iterator[tuple[Literal["skill", "python"], ToolSpec]]:
    """Yield the tool specifications, each with its kind."""
    if offered := tuple(skill for skill in skills if not skill.chosen):
        yield "skill", load_spec(offered)
    if readable := tuple(skill.name for skill in skills if skill.files):
        yield "skill", read_spec(readable)
    if running := tuple(skill for skill in skills if skill.scripts):
        yield "python", run_spec(running)


def _spec(
    name: str, description: str, skills: Sequence[str], fields: dict[str, Value], required: list[str]
) -> ToolSpec:
    """Return a tool specification, with the choice of a skill if there are several."""
    of: dict[str, Value] = {}
    if len(skills) > 1:
        of = {"skill": {"type": "string", "enum": list(skills), "description": "the name of the skill"}}
    schema: dict[str, Value] = {
        "type": "object",
        "properties": of | fields,
        "required": [*of, *required],
        "additionalProperties": False,
    }
    return ToolSpec(name, description, schema, ("skill", *skills))


def load_spec(known: Sequence[Skill]) -> ToolSpec:
    """Return the tool that loads a skill."""
    fields: dict[str, Value] = {
        "name": {"type": "string", "enum": [skill.name for skill in known], "description": "the name of the skill"}
    }
    if any(skill.arguments is not None for skill in known):
        fields["arguments"] = {"type": "string", "description": "what the skill is to be used on, in the user's words"}
    return _spec(LOAD_TOOL, "Loads a skill and gives its instructions.", (), fields, ["name"])


def read_spec(names: Sequence[str]) -> ToolSpec:
    """Return the tool that reads a file of a skill."""
    path = "a path below the folder of the skill; a folder is listed"
    line = "the first line to give, where a file is long"
    fields: dict[str, Value] = {
        "path": {"type": "string", "minLength": 1, "description": path},
        "from_line": {"type": "integer", "minimum": 1, "description": line},
    }
    about = "Reads a text file of a skill, or lists a folder of it. Nothing outside of the skill can be read."
    return _spec(READ_TOOL, about, names, fields, ["path"])


def run_spec(skills: Sequence[Skill]) -> ToolSpec:
    """Return the tool that runs a script of a skill."""
    scripts: list[Value] = list(dict.fromkeys(path for skill in skills for path in skill.scripts))
    script: dict[str, Value] = {"type": "string", "description": "the path of the script below the folder of the skill"}
    if len(scripts) <= MAX_TOLD:
        script["enum"] = scripts
    words = "the arguments of its command line"
    files = "text files to put into the working folder first, by name"
    about = (
        f"Runs a Python script of a skill in a sandbox: the standard library, the folder of the skill at {MOUNT} to "
        "read, an empty working folder, no network, no other commands. Gives what it printed, and the text files that "
        "it wrote into the working folder, which is gone afterwards."
    )
    fields: dict[str, Value] = {
        "script": script,
        "arguments": {"type": "array", "items": {"type": "string"}, "description": words},
        "stdin": {"type": "string", "description": "its standard input"},
        "files": {"type": "object", "additionalProperties": {"type": "string"}, "description": files},
    }
    return _spec(RUN_TOOL, about, [skill.name for skill in skills], fields, ["script"])


if TYPE_CHECKING:  # arguments as they satisfy the schemas above

    class _Load(TypedDict, total=False):
        name: Required[str]
        arguments: str

    class _Read(TypedDict, total=False):
        path: Required[str]
        from_line: float

    class _Run(TypedDict, total=False):
        script: Required[str]
        arguments: list[str]
        stdin: str
        files: dict[str, str]


def _of(skills: Mapping[str, Skill], arguments: Mapping[str, Value]) -> Skill:
    name = arguments.get("skill")
    return skills[name] if isinstance(name, str) else next(iter(skills.values()))


class LoadTool(SteadyTool, frozen=True):
    """Returns the instructions of a skill when the model loads it."""

    skills: Mapping[str, Skill]
    spec: ToolSpec
    kind: ClassVar[Literal["skill"]] = "skill"

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Return the instructions, below what there is of the skill."""
        del path
        request = cast("_Load", arguments)
        skill = self.skills[request["name"]]
        return ToolResult(f"{preamble(skill)}\n\n{skill.text(request.get('arguments', ''))}")


class ReadTool(SteadyTool, frozen=True):
    """Reads what lies below the folder of a skill."""

    skills: Mapping[str, Skill]
    files: SkillFiles
    spec: ToolSpec
    limits: Limits
    kind: ClassVar[Literal["skill"]] = "skill"

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Return the text of the file, or why there is none."""
        del path
        skill, request = _of(self.skills, arguments), cast("_Read", arguments)
        name = request["path"].replace("\\", "/").rstrip("/").rpartition("/")[2]
        if skill.altered and name.lower() == "skill.md":
            return ToolResult("error: SKILL.md is not shown: its instructions are in the conversation", is_error=True)
        return self.files.read(skill.folder, request["path"], int(request.get("from_line", 1)), self.limits.tool_result)


class ScriptTool(SteadyTool, frozen=True):
    """Runs a script in the sandbox, with the folder of its skill to read."""

    skills: Mapping[str, Skill]
    sandbox: Sandbox
    spec: ToolSpec
    limits: Limits
    kind: ClassVar[Literal["python"]] = "python"

    async def call(self, arguments: Mapping[str, Value], path: str) -> ToolResult:
        """Run the script and return its output and files."""
        del path
        skill, asked = _of(self.skills, arguments), cast("_Run", arguments)
        script = asked["script"]
        if script not in skill.scripts:
            known = _listed(skill.scripts)
            return ToolResult(f"error: {skill.name} has no script {script!r}; it has {known}", is_error=True)
        script_input = {
            "script": f"{MOUNT}/{script}",
            "argv": [script, *asked.get("arguments", ())],
            "stdin": asked.get("stdin", ""),
            "files": asked.get("files", {}),
        }
        code = START.replace("GIVEN", repr(json.dumps(script_input)), 1)
        limits = self.limits
        ran = await self.sandbox.run(
            code, timeout=limits.python_timeout, memory=limits.python_memory, folder=skill.folder
        )
        return result_of(ran, limits)


START = """
def _prosa_start():
    import atexit, io, json, os, sys
    given = json.loads(GIVEN)
    for name, text in given["files"].items():
        place = os.path.normpath(os.path.join("/tmp", name))
        if not place.startswith("/tmp/"):
            raise SystemExit(f"a file of the working folder cannot be named {name!r}")
        if not os.path.isdir(os.path.dirname(place)):
            os.makedirs(os.path.dirname(place))
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
    sys.argv[:] = given["argv"]
    sys.stdin = io.TextIOWrapper(io.BytesIO(given["stdin"].encode("utf-8", "surrogatepass")), encoding="utf-8")
    sys.path.insert(0, os.path.dirname(given["script"]))
    sys.dont_write_bytecode = True
    out, before = sys.stdout, given["files"]

    def show():
        seen = room = 0
        for folder, folders, names in os.walk("/tmp"):
            folders.sort()
            for name in sorted(names):
                place = os.path.join(folder, name)
                try:
                    with open(place, encoding="utf-8") as file:
                        text = file.read(65537)
                except (OSError, ValueError):
                    text = None
                short = os.path.relpath(place, "/tmp")
                if short in before and before[short] == text:
                    continue
                seen += 1
                room += len(text or "")
                if seen > 20 or room > 131072:
                    print("[further files were written, which are not shown]", file=out)
                    return
                if text is None:
                    print(f"[wrote {short}, which is no text]", file=out)
                elif len(text) > 65536:
                    print(f"[wrote {short}, which is too long to show]", file=out)
                else:
                    print(f"[wrote {short}:]\\n{text}", file=out)
        out.flush()

    atexit.register(show)
    with open(given["script"], "rb") as file:
        return compile(file.read(), given["script"], "exec", dont_inherit=True), given["script"]


__code, __file__ = _prosa_start()
del _prosa_start
exec(__code)
"""
"""What starts a script in the sandbox: its arguments, its standard input, its working folder, and at its end the text
files that it wrote."""
