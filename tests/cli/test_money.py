"""`--max-cost` wherever a model is asked (X26)."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

import prosa as library
from prosa.app.options import Environment, Options
from prosa.app.run.jobs import driving
from prosa.app.run.load import load_program
from prosa.app.runs import Job
from prosa.app.runs.engine import run_list
from prosa.cli.chat import turn as watching
from prosa.cli.chat.command import configure
from prosa.cli.parser import Parser
from prosa.render.planned import EstimateData, LikelyData, PlannedScripts
from prosa.runtime.errors import BudgetSpent, PriceUnknown
from prosa.settings import Price, Settings
from prosa.settings.model import ModelSettings, ProviderSettings
from prosa.testing import ScriptedProvider
from tests.cli.desk import desk
from tests.cli.programs import ANSWER, configured, look_at, nested, program, prosa, script, user
from tests.model_server.behaviour import Behaviour
from tests.model_server.connection import Request
from tests.model_server.fixture import model_server
from tests.model_server.server import ModelServer

__all__ = ["model_server"]
INPUT, OUTPUT = Decimal(3) / 1_000_000, Decimal(12) / 1_000_000
PRICED = '[prices."m"]\ninput = 3\noutput = 12\n'


class Billing:
    """A model service that reports as much as it may for every call, whatever becomes of its answer."""

    def __init__(self, faults: bool = False) -> None:
        self.calls, self.billed, self.faults = 0, Decimal(0), faults

    def __call__(self, request: Request) -> Behaviour:
        body: Any = request.body
        given = len(request.text.encode()) + 16 * len(body.get("messages") or body["input"])
        made = body.get("max_completion_tokens") or body.get("max_tokens") or body["max_output_tokens"]
        self.calls += 1
        self.billed += given * INPUT + made * OUTPUT
        usage = {"input_tokens": given, "output_tokens": made}
        fault = ("truncated", "not_json", None)[self.calls % 3] if self.faults else None
        return Behaviour(content={"words": 1}, usage=usage, delay=0.001 * (self.calls % 5), fault=fault)


def here(server: ModelServer, folder: Path, text: str = PRICED) -> dict[str, Any]:
    return {"environ": user(folder, PROSA_CONFIG_DIR=configured(folder, text), OPENAI_BASE_URL=server.base_url)}


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("faults", [False, True])
def test_x26_64_runs_at_once_never_cost_more_than_the_cap(
    tmp_path: Path, model_server: ModelServer, api: Any, faults: bool
) -> None:
    """X26, A5 with one process. The service reports the worst case of each call, and its own bill stays within the
    cap, to the last cent of it: another call would not fit."""
    billing = model_server.answer = Billing(faults)
    cap = Decimal("0.05")
    loaded = load_program(program(tmp_path, more="python: {timeout: 1}\n"), Options(model="m"), Settings())
    options = Options(model="m", base_url=model_server.base_url, api=api, max_cost=cap, output_tokens=50, retries=1)
    environment = Environment(user(tmp_path), Settings(prices={"m": Price(Decimal(3), Decimal(12))}))
    limited = Options(model="m", output_tokens=50)
    loaded = load_program(program(tmp_path), limited, Settings())
    failed: list[Exception] = []

    async def work() -> None:
        async with driving(options, environment) as driver:
            jobs = [Job(f"count {number}", loaded, {}) for number in range(64)]

            async def one(job: Job) -> None:
                done = await driver.outcome(job)
                failed.extend([done.error] if done.error else [])

            await run_list(jobs, one, at_once=64)
            assert driver.budget is not None
            ledger = driver.budget.ledger
            assert ledger.held == 0 and billing.billed <= ledger.spent <= cap
            assert cap - ledger.spent < Decimal("0.02")

    asyncio.run(work())
    assert 3 < billing.calls < 64 and billing.billed <= cap
    assert any(isinstance(error, BudgetSpent) for error in failed)


def test_x26_the_cap_of_a_job_holds_over_all_services_that_it_asks(tmp_path: Path, model_server: ModelServer) -> None:
    """X26, A5. A job with a cap of its own, as a row has, whose import another service answers."""
    billing = Billing()
    twice = [{"name": "inner", "arguments": {"text": "a"}, "id": each} for each in ("one", "two")]

    def answer(request: Request) -> Behaviour:
        behaviour = billing(request)
        body: Any = request.body
        return replace(behaviour, tool_calls=tuple(twice)) if body["model"] == "m" and billing.calls == 1 else behaviour

    model_server.answer = answer
    path, _ = nested(tmp_path)
    for file, model in ((path, "m"), (tmp_path / "inner.md", "odd")):
        file.write_text(file.read_text().replace("input:", f"model: {model}\ninput:", 1))
    prices = {name: Price(Decimal(3), Decimal(12)) for name in ("m", "odd")}
    settings = Settings(
        prices=prices,
        models={"odd": ModelSettings(provider="second")},
        providers={"second": ProviderSettings(base_url=model_server.base_url)},
    )
    environment = Environment(user(tmp_path, OPENAI_BASE_URL=model_server.base_url), settings)
    options = Options(output_tokens=50, retries=1)
    loaded = load_program(path, options, settings)

    async def outcome(cap: Decimal) -> Exception | None:
        async with driving(options, environment) as driver:
            return (await driver.outcome(Job("count", loaded, {"text": "a"}, max_cost=cap))).error

    assert asyncio.run(outcome(Decimal(1))) is None
    whole, billing.calls, billing.billed = billing.billed, 0, Decimal(0)
    assert isinstance(asyncio.run(outcome(whole * 3 / 4)), BudgetSpent)
    assert billing.calls > 1 and billing.billed <= whole * 3 / 4


def test_x26_an_unknown_price_is_refused_before_any_call(tmp_path: Path, model_server: ModelServer) -> None:
    """X26, A6. Exit 2, the setting is named, nothing is asked; an import without a price counts too."""
    flags = ("--model", "nobody-knows", "--max-cost", "1")
    status, at = prosa("run", program(tmp_path), *flags, **here(model_server, tmp_path))
    assert (status, at.out, model_server.requests) == (2, "", [])
    assert 'prices."nobody-knows".input' in at.err and model_server.base_url in at.err
    path, replies = nested(tmp_path)
    (tmp_path / "inner.md").write_text((tmp_path / "inner.md").read_text().replace("input:", "model: odd\ninput:", 1))
    model = script(tmp_path, *replies)
    status, at = prosa("run", path, "--model", model, "--max-cost", "1", **here(model_server, tmp_path))
    assert status == 2 and 'prices."odd".input' in at.err
    assert prosa("run", path, "--model", model, **here(model_server, tmp_path))[0] == 0


def test_x26_below_one_worst_call_nothing_is_asked(tmp_path: Path, model_server: ModelServer) -> None:
    """X26, C2. Exit 1, and the limit to lower is named; with it the same cap is enough."""
    model_server.answer = billing = Billing()
    flags = ("--model", "m", "--max-cost", "0.02", "--no-progress")
    status, at = prosa("run", program(tmp_path), *flags, **here(model_server, tmp_path))
    assert (status, billing.calls) == (1, 0)
    assert "--max-output-tokens" in at.err and "4,096" in at.err
    lower = at.err.split("{output-tokens: N}`) to ")[1].split(", or")[0].replace(",", "")
    status, at = prosa("run", program(tmp_path), *flags, "--max-output-tokens", lower, **here(model_server, tmp_path))
    assert (status, billing.calls, json.loads(at.out)) == (0, 1, {"words": 1})


def test_x26_the_default_limit_is_said_once(tmp_path: Path, model_server: ModelServer) -> None:
    path, replies = nested(tmp_path)
    model_server.script(*({"content": r.get("content"), "tool_calls": r.get("tool_calls", ())} for r in replies))
    status, at = prosa("run", path, "--model", "m", "--max-cost", "9", **here(model_server, tmp_path))
    assert status == 0 and at.err.count("each model call may write 4,096 tokens") == 1
    assert [body["max_completion_tokens"] for body in model_server.bodies] == [4096] * 4


def test_x26_an_answer_without_tools_is_the_last_thing_that_a_budget_buys(tmp_path: Path) -> None:
    """X26. Between too little for any call and enough for all there are caps that hold one last answer without tools.
    Before it, an import that could not go on is told to its caller."""
    path, (first, inner, again, last) = nested(tmp_path)
    environ = user(tmp_path, PROSA_CONFIG_DIR=configured(tmp_path, PRICED))
    dear = {**first, "usage": {"input_tokens": 2000, "output_tokens": 100}}
    seen: list[str] = []
    for cents in range(6, 40):
        provider = ScriptedProvider([dear, inner, again, last])
        cap = Decimal(cents) / 1000
        given: Any = {"provider": provider, "max_cost": cap, "max_output_tokens": 100, "environ": environ}
        try:
            ran = library.run(path, {}, model="m", **given)
        except BudgetSpent as error:
            assert error.kind == "budget"
            seen.append(f"nothing after {len(provider.requests)}")
            continue
        assert ran.output == {"words": 2} and ran.summary.total_cost <= cap
        final = provider.requests[-1]
        told = [each.content for each in final.messages if each.role == "tool"]
        seen.append("all" if final.tools else f"last {len(told)}")
        assert final.tools or all("budget" in each or "words" in each for each in told)
    order = list(dict.fromkeys(seen))
    assert (order[0], order[-1]) == ("nothing after 0", "all") and "last 2" in order


def test_x9_a_reply_has_at_most_32_tool_calls(tmp_path: Path) -> None:
    """X9. The others are not made, and their results say so."""
    path, _ = nested(tmp_path)
    call = {"name": "inner", "arguments": {"text": "a"}}
    replies = [
        {"program": "count", "tool_calls": [call] * 35},
        *([{"program": "inner", "content": {"words": 1}}] * 32),
        {"program": "count", "content": {"words": 35}},
    ]
    provider = ScriptedProvider(replies)
    ran = library.run(path, {}, provider=provider, environ=user(tmp_path))
    results = [each.content for each in provider.requests[-1].messages if each.role == "tool"]
    assert len(results) == 35 and [text.startswith("error: not made") for text in results] == [False] * 32 + [True] * 3
    assert ran.summary.agents.total == 32
    provider = ScriptedProvider([replies[0], replies[1], replies[1], replies[-1]])
    status, at = prosa(
        "run",
        path,
        "--model",
        script(tmp_path, replies[0], replies[1], replies[-1]),
        "--max-tool-calls",
        "1",
        environ=user(tmp_path),
    )
    assert (status, json.loads(at.out)) == (0, {"words": 35})


def test_x9_front_matter_sets_the_limits_of_output_and_calls(tmp_path: Path) -> None:
    """X9. Both spellings; the user's own limit is not raised by a document, and a flag wins."""
    path = program(tmp_path, more="limits: {output-tokens: 500, tool_calls: 2}\n")
    limits = load_program(path, Options(), Settings()).limits
    assert (limits.output_tokens, limits.tool_calls) == (500, 2)
    assert load_program(path, Options(), Settings(output_tokens=100)).limits.output_tokens == 100
    assert load_program(path, Options(output_tokens=900, tool_calls=64), Settings()).limits.output_tokens == 900
    assert load_program(path, Options(tool_calls=64), Settings()).limits.tool_calls == 64


SCRIPTS = """\
# Notes

```ai-script
{"script-id": "one", "prompt": "Say one.", "model-name": "m"}
```

```ai-script
{"script-id": "two", "prompt": "Say two.", "model-name": "MODEL"}
```
"""


def test_x26_scripts_and_chats_have_the_same_budget(tmp_path: Path, model_server: ModelServer) -> None:
    """X26. One budget for all scripts of a call and for all replies of a chat; unknown prices refuse all of them."""
    model_server.default = {"content": "Well.", "usage": {"input_tokens": 100, "output_tokens": 4096}}
    around = here(model_server, tmp_path)
    document = tmp_path / "notes.mda"
    document.write_text(SCRIPTS.replace("MODEL", "nobody-knows"))
    flags = ("--all", "--jobs", "1", "--max-cost", "0.08", "--no-progress")
    status, at = prosa("run", document, *flags, **around)
    assert (status, model_server.bodies) == (2, []) and "nobody-knows" in at.err
    document.write_text(SCRIPTS.replace("MODEL", "m"))
    status, at = prosa("run", document, *flags, **around)
    assert (status, len(model_server.bodies)) == (1, 1) and "the budget of $0.08, $0.04946 of it spent" in at.err
    chat = tmp_path / "talk.md"
    chat.write_text("### @user:\n\nHello\n")
    status, at = prosa("chat", chat, "--model", "m", "--max-cost", "0.01", **around)
    assert status == 1 and "the budget of $0.01" in at.err and len(model_server.bodies) == 1
    assert prosa("chat", chat, "--model", "m", "--max-cost", "0.1", **around)[0] == 0


def saved_with(*messages: str) -> Any:
    """Somebody who writes one message after the other, and ends it."""
    waiting = list(messages)

    def wait(path: Path, seen: object) -> None:
        if not waiting:
            raise KeyboardInterrupt
        path.write_text(f"### @user:\n\n{waiting.pop(0)}\n")

    return wait


def test_x26_the_turns_of_a_watched_chat_share_the_budget(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X26. `--watch` has one budget until it ends, not one for each save."""
    model_server.default = {"content": "Well.", "usage": {"input_tokens": 100, "output_tokens": 1000}}
    around, chat = here(model_server, tmp_path), tmp_path / "talk.md"
    at = desk(environ=around["environ"])
    parser = Parser(console=at.console, prog="prosa chat", description="")
    configure(parser)
    args = parser.parse_args([str(chat), "--model", "m", "--max-cost", "0.02", "--max-output-tokens", "1000"])
    args.debug, args.watch = False, True
    monkeypatch.setattr(watching, "_wait_for_save", saved_with("One?", "Two?", "Three?"))
    chat.write_text("### @user:\n\nZero?\n")
    assert watching.watch_chat(args, at.console) == 0
    assert len(model_server.bodies) == 1 and at.err.count("error: the budget of $0.02, $0.0123 of it spent") == 3


def test_x26_the_summary_says_what_the_budget_counted(tmp_path: Path, model_server: ModelServer) -> None:
    """X26. A call that broke off is in no cost of answered calls, and spent all the same."""
    model_server.script({"content": {"words": 1}, "fault": "truncated"}, {"content": {"words": 1}})
    flags = ("--model", "m", "--max-cost", "1", "--max-output-tokens", "100", "--summary")
    status, at = prosa("run", program(tmp_path), *flags, **here(model_server, tmp_path))
    total = json.loads(at.err[at.err.index("{") :])["total"]
    assert status == 0 and total["cost"] == 0.00135 and total["spent"] > total["cost"] + 0.0012
    model_server.script({"content": {"words": 1}})
    status, at = prosa("run", program(tmp_path), "--model", "m", "--summary", **here(model_server, tmp_path))
    assert "spent" not in json.loads(at.err)["total"]


def test_x26_calls_of_python_share_a_ledger(tmp_path: Path, model_server: ModelServer) -> None:
    """X26. In one event loop and in several threads: the service's own bill stays within it."""
    path, billing = program(tmp_path), Billing()
    model_server.answer = billing
    around = {"model": "m", "base_url": model_server.base_url, "max_output_tokens": 50, **here(model_server, tmp_path)}
    ledger = library.Ledger("0.05")  # type: ignore[arg-type]

    async def all_of_them() -> list[Any]:
        runs = (library.arun(path, {}, max_cost=ledger, **around) for _ in range(32))
        return await asyncio.gather(*runs, return_exceptions=True)

    found = asyncio.run(all_of_them())
    assert {type(each).__name__ for each in found} == {"RunResult", "BudgetSpent"}
    assert billing.billed <= ledger.spent <= ledger.cap == Decimal("0.05") and ledger.held == 0
    more, before = library.Ledger(Decimal("0.03")), billing.billed

    def one(_: int) -> bool:
        try:
            library.run(path, {}, max_cost=more, **around)
        except BudgetSpent:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        went = list(pool.map(one, range(16)))
    assert set(went) == {True, False}
    assert billing.billed - before <= more.spent <= more.cap and more.held == 0


def test_x26_what_is_played_costs_nothing(tmp_path: Path, model_server: ModelServer) -> None:
    """X26, X27. A recording is played under any budget, with or without a price."""
    model_server.script({"content": {"words": 4}})
    around, path, tapes = here(model_server, tmp_path), program(tmp_path), tmp_path / "tapes"
    assert prosa("run", path, "--model", "odd", "--record", tapes, **around)[0] == 0
    status, at = prosa("run", path, "--model", "odd", "--replay", tapes, "--max-cost", "0.000001", **around)
    assert (status, json.loads(at.out), len(model_server.bodies)) == (0, {"words": 4}, 1), at.err


def test_x25_x26_a_run_that_a_budget_ended_goes_on_with_more(tmp_path: Path, model_server: ModelServer) -> None:
    """X25, X26. What was answered is not asked again and not paid again; the history says why it had ended."""
    around, path = here(model_server, tmp_path), program(tmp_path)
    around["environ"]["PROSA_DATA_DIR"] = str(tmp_path / "data")
    dear = {"content": "no number", "usage": {"input_tokens": 2000, "output_tokens": 1000}}
    model_server.script(dear, {"content": {"words": 3}})
    flags = ("--model", "m", "--max-output-tokens", "1000")
    status, at = prosa("run", path, *flags, "--max-cost", "0.02", **around)
    assert status == 1 and "the budget of $0.02, $0.018 of it spent" in at.err and len(model_server.bodies) == 1
    resume = at.err.split("--resume ")[1].split()[0]
    status, at = prosa("run", path, *flags, "--max-cost", "0.03", "--resume", resume, "--summary", **around)
    assert (status, json.loads(at.out), len(model_server.bodies)) == (0, {"words": 3}, 2), at.err
    total = json.loads(at.err[at.err.index("{") :])["total"]
    assert total["cost"] > 0.018 > total["spent"]


def test_x26_a_plan_says_what_is_likely_from_earlier_runs(tmp_path: Path, model_server: ModelServer) -> None:
    """X26. Of this version and this model, those that ended well; a plan makes no store and no folder for one."""
    around, path = here(model_server, tmp_path), program(tmp_path)
    data = tmp_path / "data"
    around["environ"]["PROSA_DATA_DIR"] = str(data)
    plan = ("plan", path, "text=x", "--model", "m", "--format", "json")
    assert json.loads(prosa(*plan, **around)[1].out)["estimate"]["likely"] is None and not data.exists()
    for words, tokens in enumerate((100, 200, 600)):
        more = [{"content": "no"}] if words == 2 else []
        usage = {"input_tokens": tokens, "output_tokens": 10}
        model_server.script(*({**each, "usage": usage} for each in (*more, {"content": {"words": words}})))
        assert prosa("run", path, "text=x", "--model", "m", **around)[0] == 0
    model_server.script({"content": {"words": 1}}, {"content": "no", "times": 10})
    assert prosa("run", path, "text=x", "--model", "other", **around)[0] == 0
    assert prosa("run", path, "text=x", "--model", "m", **around)[0] == 1
    likely = json.loads(prosa(*plan, **around)[1].out)["estimate"]["likely"]
    assert msgspec.convert(likely, LikelyData) == likely
    assert likely["runs"] == 3 and likely["median"] == {
        "calls": 1,
        "tokens_in": 200,
        "tokens_out": 10,
        "dollars": 0.00072,
    }
    assert likely["p95"] == {"calls": 2, "tokens_in": 1200, "tokens_out": 20, "dollars": 0.00384}
    text = prosa("plan", path, "text=x", "--model", "m", **around)[1].out
    assert "likely     1 (2)" in text and "the median of 3 runs of this version" in text
    path.write_text(path.read_text() + "And more.\n")
    assert json.loads(prosa(*plan, **around)[1].out)["estimate"]["likely"] is None
    store = next(data.glob("*.sqlite"))
    store.write_bytes(b"no database")
    status, at = prosa(*plan, **around)
    assert (status, json.loads(at.out)["estimate"]["likely"]) == (0, None) and at.err == ""
    assert "earlier runs are not known" in prosa("plan", path, "text=x", "--model", "m", **around)[1].err


def test_x26_python_takes_amounts(tmp_path: Path) -> None:
    provider = ScriptedProvider([ANSWER])
    given = {"provider": provider, "environ": user(tmp_path)}
    with pytest.raises(PriceUnknown):
        library.run(program(tmp_path), {}, model="odd", max_cost=1, **given)
    with pytest.raises(ValueError, match="max_cost"):
        library.run(program(tmp_path), {}, max_cost=0, **given)
    assert not provider.requests
    assert library.run(program(tmp_path), {}, max_cost="0.5", **given).output == {"words": 2}


@pytest.mark.parametrize("amount", ["0", "-1", "much", "inf", "1e9"])
def test_x26_a_cap_is_an_amount(tmp_path: Path, amount: str) -> None:
    status, at = prosa("run", program(tmp_path), f"--max-cost={amount}", environ=user(tmp_path))
    assert status == 2 and "US dollars" in at.err


def test_x26_a_plan_has_an_estimate(tmp_path: Path) -> None:
    """X26. As text and as JSON, for a program and for the scripts of a document; a plan asks nobody."""
    path, _ = nested(tmp_path)
    environ = user(tmp_path, PROSA_CONFIG_DIR=configured(tmp_path, PRICED + '[models."m"]\ncontext = 8000\n'))
    flags = ("--model", "m", "--max-output-tokens", "100")
    status, at = prosa("plan", path, "text=one two", *flags, environ=environ)
    assert status == 0
    table = at.out.split("\ncost ")[1]
    assert "at least" in table and "+ inner: 288 × $" in table and "`limits: {tool-calls: 1}`" in table
    status, at = prosa("plan", path, "text=one two", *flags, "--format", "json", environ=environ)
    estimate = json.loads(at.out)["estimate"]
    assert estimate["at_most"]["calls"] == 10 + 288 * 10 and estimate["lower"]["limit"] == "tool-calls"
    assert msgspec.convert(estimate, EstimateData) == estimate
    assert 0 < estimate["at_least"]["dollars"] < estimate["at_most"]["dollars"] and estimate["likely"] is None
    assert estimate["first_call"]["rendered"] and estimate["context"] == 8000
    document = tmp_path / "notes.mda"
    document.write_text(SCRIPTS.replace("MODEL", "m"))
    status, at = prosa("plan", document, "--max-output-tokens", "100", environ=environ)
    assert status == 0 and at.out.count("at most") >= 2 and "1 call with a context of 8,000 tokens" in at.out
    status, at = prosa("plan", document, "--format", "json", "--max-cost", "0.001", environ=environ)
    scripts = msgspec.json.decode(at.out, type=PlannedScripts)["scripts"]
    assert [each["estimate"]["at_most"]["dollars"] for each in scripts] == [0.001, 0.001]
    status, at = prosa("plan", path, "text=x", *flags, "--max-cost", "0.002", environ=environ)
    assert "--max-cost 0.002 may not hold even that: it may cost $0.0" in at.out
    status, at = prosa("plan", path, "--model", "odd", environ=environ)
    assert "no bound" in at.out and "no price of odd is known" in at.out


def test_x26_a_model_server_here_charges_nothing_and_one_that_is_only_near_has_no_price(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """X26. `--model local` says that the model is one's own; behind a base URL on loopback there may be a gateway."""
    look_at(monkeypatch, Ollama=model_server.port)
    model_server.local, model_server.models, model_server.default = "Ollama", ["tiny"], ANSWER
    path, words = program(tmp_path), ("text=a", "--max-cost", "0.01")
    status, it = prosa("run", path, *words, "--model", "local", environ=user(tmp_path))
    assert status == 0, it.err
    asked = model_server.base_url, "--model", "tiny"
    status, it = prosa("run", path, *words, "--base-url", *asked, environ=user(tmp_path, OPENAI_API_KEY="k"))
    assert status == 2 and "no price of tiny at http://127.0.0.1" in it.err
    priced = user(tmp_path, PROSA_CONFIG_DIR=configured(tmp_path, '[prices."tiny"]\ninput = 3000\noutput = 12000\n'))
    status, it = prosa("run", path, *words, "--model", "local", environ=priced)
    assert status == 1 and "budget" in it.err
