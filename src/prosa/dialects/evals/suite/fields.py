"""The fields of the files beside a skill that say how it is tried, as others write them (X32).

    evals/evals.json          {"skill_name": …, "evals": [{"id", "prompt", "expected_output", "files", "assertions"}]}
    evals/trigger-eval.json   [{"query", "should_trigger"}]

The cases may also be a list of {"question", "ground_truth", "expected_behavior", …}, as SkillEvaluator writes them.
A field that is in no table is kept and means nothing here, unless it is a slip of the pen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from prosa.dialects.evals.document.fields import FRONT
from prosa.dialects.fields import Field
from prosa.evaluation.matchers import MATCHERS

_SHARED = ("repeat", "require", "models", "grader", "votes")

EVAL: Final[tuple[Field, ...]] = (
    Field("id", "text-or-integer", about="a number or a text of its own"),
    Field("name", "text", about="what reports call the case; else its id and the beginning of its prompt"),
    Field(
        "prompt",
        "text",
        required=True,
        also="question",
        wanted="the request that the skill gets",
        about="the request, as a user would write it; also called `question`",
    ),
    Field(
        "expected_output",
        "text",
        also="ground_truth",
        about="what the answer has to be, for people; without assertions, a grader checks it; "
        "also called `ground_truth`",
    ),
    Field(
        "files",
        "anything",
        about="files that the run may read beside the request: paths below the folder of the skill, or "
        '`{"path": "evals/files/a.csv", "as": "data/a.csv"}`: where an agent finds it in its workspace, else at its '
        "path below `evals/files/`",
    ),
    Field(
        "assertions",
        "anything",
        about="what has to hold: sentences for a grader, and records that say how they are decided",
    ),
    Field(
        "expectations",
        "anything",
        also="expected_behavior",
        about="the same; also called `expected_behavior`; both count",
    ),
    Field("expected_skill", "anything", about="not evaluated here: `prosa check` reports it"),
    Field("expected_script", "anything", about="not evaluated here: `prosa check` reports it"),
)

UNJUDGED: Final[Mapping[str, str]] = {
    "expected_skill": "a case runs with its skill chosen; which skill a model loads is tried with the requests in "
    "`evals/trigger-eval.json`",
    "expected_script": 'an assertion can ask that scripts run: {"tools": {"called": ["skill_run"]}}',
}
"""Fields of other tools whose expectations are not judged, each with an alternative."""

TOP: Final[tuple[Field, ...]] = (
    Field("skill_name", "text", also="skill", about="the name of the skill"),
    Field(
        "evals", "anything", required=True, wanted="a list of cases", about="the cases, a list of objects", inner=EVAL
    ),
    *(field for field in FRONT if field.name in _SHARED),
)
"""The fields of the whole; those beside the shared format are what a test document has in its front matter."""

QUERY: Final[tuple[Field, ...]] = (
    Field(
        "query",
        "text",
        required=True,
        also="prompt",
        wanted="a request of a user",
        about="a request; also called `prompt`",
    ),
    Field(
        "should_trigger",
        "boolean",
        required=True,
        wanted="whether the skill is for it",
        about="whether the skill is for it",
    ),
    Field(
        "expected_skill",
        "text",
        also="skill",
        about="where it is not: the skill in the folder beside that it belongs to, if there is one",
    ),
)

LISTS: Final = ("queries", "triggers", "evals")
"""Under which of these names the requests stand where the file is an object."""

SENTENCES: Final = ("description", "text", "assertion", "expectation")
"""The name of an assertion that is a record: the first of these fields that it has."""

ALIASES: Final[Mapping[str, str]] = {
    **{name.replace("-", "_"): name for name in MATCHERS if "-" in name},
    "exact_match": "equals",
    "regex": "matches",
}
"""Other spellings of words about a value."""

JSON: Final = "json"
"""What stands under this name is expected of the output read as JSON; `true` is any JSON."""

VALID_JSON: Final = (JSON, "is-json", "is_json", "json_valid", "valid_json")
"""Types of assertions that any JSON meets where they have no value."""

RUN: Final = ("calls", "cost", "seconds", "tools", "fails")
"""Words about the run."""

GRADED: Final = ("llm", "llm-rubric", "llm_rubric", "llm-judge", "llm_judge", "model", "rubric", "grade", "semantic")
"""What others call the kind of an assertion that a grader answers."""
