"""What a plan says of the cost: at least, likely, at most (X26)."""

from __future__ import annotations

import asyncio
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prosa.adapters.providers.prices import KnownModels, KnownPrices, tokenizer_of
from prosa.app.options import Environment, Options
from prosa.app.run.jobs import driving
from prosa.app.run.load import load_program
from prosa.app.runs import Job
from prosa.records.estimate import Estimate, EstimateInputs, PastRun, estimate
from prosa.records.plan import first_messages, first_request
from prosa.runtime.budget import Budget, Ledger
from prosa.runtime.errors import ProviderError, RunError
from prosa.runtime.messages import ModelReply, ModelRequest, ToolCall, Usage
from prosa.runtime.program import Program
from prosa.settings import ModelSettings, Price, Settings
from tests.cli.programs import user
from tests.depth import examples

PRICES = {"m": Price(Decimal(3), Decimal(12)), "n": Price(Decimal("0.5"), Decimal(40), Decimal(1))}
PROGRAM = """\
---
name: {name}
description: {description}
model: {model}
input: {{type: object, properties: {{text: {{type: string, default: a few words}}}}}}
output: {{type: object, properties: {{n: {{type: integer}}}}, required: [n], additionalProperties: false}}
limits: {{iterations: {iterations}, tool_calls: {calls}, output_tokens: {output}, tool_result: {result}}}
{more}---
Say a number for {{{{ .text }}}}.
"""


def bytes_of(request: ModelRequest) -> int:
    """The tokens of a request for a tokenizer that makes one of every byte."""
    said = sum(
        len(each.content) + sum(len(c.arguments) + len(c.name) for c in each.tool_calls) for each in request.messages
    )
    tools = sum(len(each.name) + len(each.description) + len(json.dumps(each.parameters)) for each in request.tools)
    schema = len(json.dumps(request.output.schema)) if request.output else 0
    return said + tools + schema + 16 * len(request.messages)


class Worst:
    """A model that writes as much as it may, calls as many tools as it can, is refused as often as it can be, and has a
    tokenizer of single bytes and a context window. ``billed`` is what it asks for that, as it counts."""

    def __init__(self, context: int, chance: random.Random) -> None:
        self.context, self.chance = context, chance
        self.calls, self.billed = 0, Decimal(0)

    async def complete(self, request: ModelRequest, on_text: Any = None) -> ModelReply:
        await asyncio.sleep(0)
        given = bytes_of(request)
        if given > self.context:
            raise ProviderError("the input is too long", kind="bad-request", retryable=False)
        most = request.max_output
        assert most is not None
        calls = self._calls(request, most)
        made = most if calls or self.chance.random() < 0.7 else min(most, 9)
        reply = self._reply(request, calls, made)
        usage = Usage(given, made, self.chance.choice((0, given)))
        self.calls += 1
        self.billed += KnownPrices(PRICES).cost(request.model_name, usage) or 0
        return ModelReply(reply, calls, usage, request.model_name, "tool_calls" if calls else "stop")

    def _calls(self, request: ModelRequest, most: int) -> tuple[ToolCall, ...]:
        """As many as fit, most of them of imports, some of a tool that is not there."""
        names = [each.name for each in request.tools if each.name != "python"]
        if not request.tools or self.chance.random() < 0.1:
            return ()
        names = [*names, "python", "nothing"]
        room = most // 40
        return tuple(
            ToolCall(f"call_{at}", self.chance.choice(names), json.dumps({"text": "x" * 9}))
            for at in range(self.chance.randint(0, room))
        )

    def _reply(self, request: ModelRequest, calls: tuple[ToolCall, ...], made: int) -> str:
        if calls:
            return ""
        if made <= 9 or self.chance.random() < 0.2:
            return json.dumps({"n": 1})
        return self.chance.choice(("x" * made, json.dumps({"n": "é" * (made // 20), "o" * (made // 3): 1})))[:made]

    async def aclose(self) -> None:
        self.context = 0


def tree(folder: Path, chance: random.Random) -> Program:
    """A random program whose imports are at most three deep; some are imported by several."""
    layers = [[f"p{depth}{at}" for at in range(chance.randint(1, 2))] for depth in range(chance.randint(1, 4))]
    layers[0] = ["p00"]
    for depth, names in enumerate(layers):
        below = [name for layer in layers[depth + 1 :] for name in layer]
        for name in names:
            inner = chance.sample(below, min(len(below), chance.randint(0, 2)))
            values = {
                "name": name,
                "description": "Says a number." * chance.randint(1, 5),
                "model": chance.choice("mn"),
                "iterations": chance.randint(1, 3),
                "calls": chance.randint(1, 2),
                "output": chance.choice((40, 90, 200, 400)),
                "result": chance.choice(("1KB", "2KB", "8KB")),
                "more": f"imports: [{', '.join(f'./{each}.md' for each in inner)}]\n" if inner else "",
            }
            (folder / f"{name}.md").write_text(PROGRAM.format(**values))
    return load_program(folder / "p00.md", Options(), Settings())


def facts(context: int | None, **more: Any) -> EstimateInputs:
    models = {name: ModelSettings(context=context) for name in PRICES}
    return EstimateInputs(KnownPrices(PRICES), KnownModels(models), **more)


def of(program: Program, given: Any, known: EstimateInputs) -> Estimate:
    first = None if given is None else first_request(program, first_messages(program, given))
    return estimate(program, first, known)


@pytest.mark.parametrize("seed", range(examples(200, share=4)))
def test_x26_no_run_costs_more_than_the_plan_says_or_less(tmp_path: Path, seed: int) -> None:
    """X26, C1. Random programs with imports, and a model that does its worst: what it bills is within the bounds, with
    a context window and without, whether the input is known or not; and never above a cap."""
    chance = random.Random(seed)
    program = tree(tmp_path, chance)
    window = chance.choice((None, 3_000, 20_000))
    model = Worst(window or 10**9, chance)
    given = {"text": "word " * chance.randint(0, 50)}
    options, environment = Options(), Environment(user(tmp_path), Settings(prices=PRICES))
    cap = chance.choice((None, None, Decimal("0.02"), Decimal("0.2")))
    budget = Budget(KnownPrices(PRICES), Ledger(cap or Decimal(10**6)))
    error: RunError | None = None
    summaries = []

    async def work() -> None:
        nonlocal error
        async with driving(options, environment, provider=model, budget=budget) as driver:
            try:
                summaries.append((await driver.run(Job("p0", program, given))).summary)
            except RunError as found:
                error = found

    asyncio.run(work())
    bounds = [of(program, each, facts(window)) for each in (given, None)]
    for each in bounds:
        assert each.most is not None and each.most.dollars is not None
        assert model.billed <= each.most.dollars and model.calls <= each.most.calls
        assert each.lower is None or each.lower.dollars < each.most.dollars
        if summaries:
            assert summaries[0].total_cost == model.billed
            assert each.least.dollars is not None and model.billed >= each.least.dollars
            assert summaries[0].total_usage.input_tokens >= each.least.input_tokens
    assert bounds[0].most.dollars <= bounds[1].most.dollars  # type: ignore[union-attr, operator]
    assert cap is None or model.billed <= budget.ledger.spent <= cap


def simple(folder: Path, **more: Any) -> Program:
    values = {"name": "p", "description": "Says a number.", "model": "m", "iterations": 10, "calls": 32}
    values |= {"output": 1000, "result": "256KB", "more": ""} | more
    (folder / "p.md").write_text(PROGRAM.format(**values))
    return load_program(folder / "p.md", Options(), Settings())


def test_x26_history_gives_what_is_likely(tmp_path: Path) -> None:
    """X26. The median of the runs of this version, and what 19 of 20 stayed below."""
    past = [PastRun(calls, 100 * calls, 10, Decimal(calls) / 1000) for calls in range(1, 21)]
    likely = of(simple(tmp_path), {}, facts(8_000, past=past)).likely
    assert likely is not None and likely.runs == 20
    assert (likely.median.calls, likely.median.input_tokens, likely.median.dollars) == (10, 1050, Decimal("0.0105"))
    assert (likely.p95.calls, likely.p95.dollars) == (19, Decimal("0.019"))
    assert of(simple(tmp_path), {}, facts(8_000)).likely is None
    unpriced = of(simple(tmp_path), {}, facts(8_000, past=[PastRun(2, 3, 4)])).likely
    assert unpriced is not None and (unpriced.median.calls, unpriced.median.dollars) == (2, None)


def test_x26_the_limit_that_lowers_the_bound_most_is_named(tmp_path: Path) -> None:
    """X26. With imports that is the number of their calls; what it makes of the bound is what the plan then says."""
    inner = PROGRAM.format(
        name="inner", description="x", model="m", iterations=9, calls=32, output=900, result="1KB", more=""
    )
    (tmp_path / "inner.md").write_text(inner)
    program = simple(tmp_path, more="imports: [./inner.md]\n")
    found = of(program, {}, facts(8_000))
    assert found.lower is not None and (found.lower.limit, found.lower.value) == ("tool-calls", 1)
    assert found.part is not None and (found.part.program, found.part.times) == ("inner", 9 * 32)
    assert found.most is not None and found.most.calls == 10 + 9 * 32 * 9
    less = of(load_program(tmp_path / "p.md", Options(tool_calls=1), Settings()), {}, facts(8_000))
    assert less.most is not None and less.most.dollars == found.lower.dollars


def test_x26_without_a_bound_the_plan_says_what_would_be_one(tmp_path: Path) -> None:
    unlimited = simple(tmp_path, more="").limits
    program = load_program(tmp_path / "p.md", Options(), Settings())
    loose = msgspec.structs.replace(program, limits=msgspec.structs.replace(unlimited, output_tokens=None))
    found = of(loose, {}, facts(None))
    assert (
        found.most is None and 'models."m".max-output' in found.boundless and "--max-output-tokens" in found.boundless
    )
    capped = of(loose, {}, facts(None, cap=Decimal("0.5")))
    assert capped.most is not None and capped.most.dollars == Decimal("0.5") and capped.window.output == 4096
    able = EstimateInputs(KnownPrices(PRICES), KnownModels({"m": ModelSettings(max_output=70)}))
    assert of(loose, {}, able).window.output == 70
    served = simple(tmp_path, more="mcp_servers: [{name: s, command: x}]\n")
    assert "models." in of(served, {}, facts(None)).boundless and of(served, {}, facts(9_000)).most is not None
    tool = "{name: t, parameters: {type: object}}"
    named = simple(tmp_path, more=f"mcp_servers: [{{name: s, command: x, tools: [{tool}]}}]\n")
    alone = simple(tmp_path, more="mcp_servers: [{name: s, command: x, tools: []}]\n")
    with_tool, without = of(named, {}, facts(None)), of(alone, {}, facts(None))
    assert with_tool.most is not None and without.most is not None
    assert with_tool.most.input_tokens > without.most.input_tokens


def test_x26_models_without_a_price_are_named_and_not_counted(tmp_path: Path) -> None:
    found = of(simple(tmp_path, model="odd"), {}, facts(8_000))
    assert found.unknown == ("odd",) and found.least.dollars is None
    assert found.most is not None and found.most.dollars is None and found.lower is None


@pytest.mark.parametrize(
    ("model_name", "tokenizer"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-4.1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-oss-20b", "gpt-oss"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3"),
        ("qwen2.5:7b", "qwen3"),
        ("claude-sonnet-4-5", None),
        ("gemini-2.5-pro", None),
        ("opus", None),
    ],
)
def test_x26_models_are_known_by_their_tokenizers(model_name: str, tokenizer: str | None) -> None:
    """X26. With the extra `tokens` the text of a model with an open vocabulary is counted exactly, and never has more
    tokens than bytes; for another one the count is near."""
    assert tokenizer_of(model_name) == tokenizer
    models = KnownModels({"own": ModelSettings(tokenizer="llama3"), "wrong": ModelSettings(tokenizer="none such")})
    text = "Hello world! 日本語 🦜 \ud800"
    found = models.tokens(model_name, text)
    assert found is not None and found[1] == (tokenizer is not None)
    assert 5 < found[0] <= len(text.encode("utf-8", "surrogatepass"))
    assert models.tokens("own", text) == models.tokens("llama-3-8b", text)
    assert models.tokens("wrong", text) is None


def test_x26_context_windows_are_known_at_their_service() -> None:
    models = KnownModels({"gpt-4o": ModelSettings(context=5)})
    assert KnownModels().context("gpt-4o", None) == 128_000
    assert KnownModels().context("gpt-4o", "https://models.example/v1") is None
    assert (models.context("gpt-4o", None), models.context("made:up", None)) == (5, None)
