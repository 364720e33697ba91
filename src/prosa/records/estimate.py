"""What a run may take, before it: calls, tokens and US dollars, at least, likely and at most (X26).

In: a program, its first request where its input is known, facts about models, what runs of this version took. Out: an
`Estimate`. The bound is over the whole import graph, each program once; it holds for the calls that are made once:
attempts that fail and are billed all the same come on top. Nothing is asked, and no clock is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Value
from prosa.dialects.markdownlang.fields import server_tool_name
from prosa.regex import regex
from prosa.runtime.budget import MESSAGE_BYTES, OUTPUT_UNDER_CAP, TOOL_BYTES, json_upper, tokens_upper
from prosa.runtime.mail import mail_specs
from prosa.runtime.messages import ModelRequest, ToolSpec, Usage
from prosa.runtime.output import MAX_PROBLEMS, MAX_REASON, contract_of
from prosa.runtime.parameters import most_output
from prosa.runtime.ports import Prices
from prosa.runtime.program import Program, reachable
from prosa.runtime.prompt import Transcript, messages
from prosa.runtime.skill import skill_specs

BODY_TOKENS = 4 * 10 * 1024 * 1024
"""Tokens of a rendered body at most: the bytes of the longest text that a template may write."""

FEEDBACK_TOKENS = 4 * MAX_REASON * (MAX_PROBLEMS + 1)
"""Tokens of the message to a model about a refused answer: the bytes of the reasons."""

PYTHON_TOKENS = 4_096
"""Tokens of the built-in tools in a request."""

STEPPED = 200
"""Calls of one program whose input is bounded one by one; further ones count as the last of these."""

SENSIBLE: tuple[tuple[str, int], ...] = (
    ("iterations", 3),
    ("tool_calls", 1),
    ("output_tokens", 1_000),
    ("tool_result", 16 * 1024),
)
"""Limits that bound a run, each with a low value that many programs can work with."""

_WORD = regex(r"\w+")


class Models(Protocol):
    """What is known of models beside their prices."""

    def context(self, model_name: str, service: str | None) -> int | None:
        """Return tokens of the context window; None where it is not known."""
        ...

    def max_output(self, model_name: str) -> int | None:
        """Return tokens that the model writes in one call at most; None where it is not known."""
        ...

    def tokens(self, model_name: str, text: str) -> tuple[int, bool] | None:
        """Return the tokens of a text, and whether they were counted with the tokenizer of the model; None without
        one."""
        ...


class PastRun(Struct, frozen=True):
    """What a run of this version took; ``dollars`` is None where no price is known."""

    calls: int
    input_tokens: int
    output_tokens: int
    dollars: Decimal | None = None


class EstimateInputs(Struct, frozen=True):
    """The facts behind an estimate. ``service`` is the base URL for the requests, ``services`` those of models at other
    services, ``unsaid`` the default maximum of output tokens by model; ``past`` are runs of the same version of the
    program and its imports with the same models."""

    prices: Prices
    models: Models
    service: str | None = None
    past: Sequence[PastRun] = ()
    cap: Decimal | None = None
    services: Mapping[str, str | None] = field(default_factory=dict)
    unsaid: Mapping[str, int] = field(default_factory=dict)

    def service_of(self, model_name: str) -> str | None:
        """Return the base URL that is asked for a model."""
        return self.services.get(model_name, self.service)

    def price(self, model_name: str, usage: Usage) -> Decimal | None:
        """US dollars of tokens at the service."""
        return self.prices.cost(model_name, usage, self.service_of(model_name))


class Amount(Struct, frozen=True):
    """Calls, tokens and US dollars; ``dollars`` is None where no price is known."""

    calls: int
    input_tokens: int
    output_tokens: int
    dollars: Decimal | None

    def plus(self, other: Amount, times: int = 1) -> Amount:
        """With so many of another; what has no price is left out."""
        costs = [cost for cost in (self.dollars, None if other.dollars is None else other.dollars * times) if cost]
        known = self.dollars is not None or other.dollars is not None
        return Amount(
            self.calls + times * other.calls,
            self.input_tokens + times * other.input_tokens,
            self.output_tokens + times * other.output_tokens,
            sum(costs, Decimal(0)) if known else None,
        )


class Likely(Struct, frozen=True):
    """What runs of this version took: the median, and what 19 of 20 stayed below."""

    runs: int
    median: Amount
    p95: Amount


class Part(Struct, frozen=True):
    """What an imported program adds at most: ``times`` calls of it, each of ``dollars``."""

    program: str
    times: int
    dollars: Decimal | None


class Lower(Struct, frozen=True):
    """The limit that lowers the bound most: its name, a value, and the dollars at most with it."""

    limit: str
    value: int
    dollars: Decimal


class Window(Struct, frozen=True):
    """What bounds one call of the program itself: None is what nothing bounds."""

    context: int | None
    output: int | None
    output_from: str


class Estimate(Struct, frozen=True):
    """``first`` are the tokens of the first request, exact where ``counted`` says so, and without what depends on the
    input unless it is ``rendered``; ``first_most`` is what it may cost. ``most`` is None where nothing
    bounds the run, and ``boundless`` says why. ``unknown`` are models without a price, whose calls are not in any
    dollars."""

    least: Amount
    first: int
    counted: bool
    rendered: bool
    first_most: Decimal | None
    likely: Likely | None
    most: Amount | None
    boundless: str
    window: Window
    own: Amount | None
    part: Part | None
    lower: Lower | None
    unknown: tuple[str, ...]
    retries: int
    cap: Decimal | None = None

    def as_dict(self) -> dict[str, Value]:
        """Return plain data: the key `estimate` of a plan."""
        return {
            "at_least": _amount(self.least),
            "likely": _taken(self.likely),
            "at_most": _amount(self.most),
            "unbounded": self.boundless or None,
            "first_call": {
                "tokens_in": self.first,
                "exact": self.counted,
                "rendered": self.rendered,
                "dollars_at_most": _number(self.first_most),
            },
            "context": self.window.context,
            "output": self.window.output,
            "own": _amount(self.own),
            "import": _part(self.part),
            "lower": _lower(self.lower),
            "unknown_prices": list(self.unknown),
            "retries": self.retries,
            "max_cost": _number(self.cap),
        }


class _Boundless(Exception):
    """Nothing bounds a call; the text says what would."""


def estimate(program: Program, first: ModelRequest | None, facts: EstimateInputs) -> Estimate:
    """Return the estimate of a run. ``first`` is its first request, None where the input is not known."""
    bounds = _Bounds(facts, first, program)
    known = first or _without_input(program)
    tokens, counted = _first_tokens(known, facts.models)
    most, own, part, first_most, why = None, None, None, None, ""
    try:
        first_most = bounds.first_most()
        own, part = bounds.own(program), bounds.part(program)
        most = bounds.of(program)
    except _Boundless as error:
        why = str(error)
    capped = most
    if most is not None and facts.cap is not None and (most.dollars is None or most.dollars > facts.cap):
        capped = replace(most, dollars=facts.cap)
    return Estimate(
        least=_least(program, known, facts, tokens if counted else 0),
        first=tokens,
        counted=counted,
        rendered=first is not None,
        first_most=first_most,
        likely=_likely(facts.past),
        most=capped,
        boundless=why,
        window=bounds.window(program),
        own=own,
        part=part,
        lower=_lowest(program, first, facts, most),
        unknown=_unknown(program, facts),
        retries=program.limits.retries,
        cap=facts.cap,
    )


def _without_input(program: Program) -> ModelRequest:
    """Return what is known of the first request while the input is not."""
    return _request(program, "")


def _request(program: Program, body: str) -> ModelRequest:
    contract = contract_of(program)
    sent = messages(program, contract, body, Transcript(), (), final=program.limits.iterations == 1)
    return ModelRequest(program.model_name, sent, output=contract.format, parameters=program.parameters)


def _first_tokens(request: ModelRequest, models: Models) -> tuple[int, bool]:
    """Return the tokens of a request: counted, else by the usual length of one."""
    text = "".join(message.content for message in request.messages)
    count, exact = _counted(text, request.model_name, models)
    return count + 4 * len(request.messages), exact


def _counted(text: str, model_name: str, models: Models | None) -> tuple[int, bool]:
    count = models.tokens(model_name, text) if models is not None else None
    return (round(len(text.encode("utf-8", "surrogatepass")) / 3.7), False) if count is None else count


def tool_tokens(spec: ToolSpec, model_name: str, models: Models | None) -> int:
    """Return about how many tokens a tool has in each request: services write tools in ways of their own for their
    models."""
    declaration = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    text = json.dumps(declaration, ensure_ascii=False, separators=(",", ":"), default=dict)
    return _counted(text, model_name, models)[0]


def _least(program: Program, request: ModelRequest, facts: EstimateInputs, counted: int) -> Amount:
    """Return one call with an answer of one token. No tokenizer of today takes two words for one token."""
    words = sum(1 for message in request.messages for _ in _WORD.finditer(message.content))
    tokens = max(1, words, counted - 4 * len(request.messages))
    usages = (Usage(tokens, 1), Usage(tokens, 1, tokens))
    costs = [cost for usage in usages if (cost := facts.price(program.model_name, usage)) is not None]
    return Amount(1, tokens, 1, min(costs, default=None))


def _likely(past: Sequence[PastRun]) -> Likely | None:
    if not past:
        return None
    return Likely(len(past), _quantile(past, _median), _quantile(past, _p95))


def _quantile(past: Sequence[PastRun], of: Callable[[Iterable[Decimal]], Decimal]) -> Amount:
    costs = [run.dollars for run in past if run.dollars is not None]
    return Amount(
        int(of(Decimal(run.calls) for run in past)),
        int(of(Decimal(run.input_tokens) for run in past)),
        int(of(Decimal(run.output_tokens) for run in past)),
        of(costs) if costs else None,
    )


def _median(values: Iterable[Decimal]) -> Decimal:
    ordered = sorted(values)
    half = len(ordered) // 2
    return (ordered[half] + ordered[~half]) / 2


def _p95(values: Iterable[Decimal]) -> Decimal:
    """Return the least value that 19 of 20 do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * 19 // 20) - 1)]


def _unknown(program: Program, facts: EstimateInputs) -> tuple[str, ...]:
    names = dict.fromkeys(reached.model_name for reached in reachable(program))
    return tuple(name for name in names if facts.price(name, Usage(1, 1)) is None)


class _Bounds(Struct):
    """Bounds of programs, each computed once. ``first`` is the first request of ``root``."""

    facts: EstimateInputs
    first: ModelRequest | None
    root: Program
    known: dict[int, Amount] = field(default_factory=dict)
    prices: dict[tuple[str, int, int], Decimal | None] = field(default_factory=dict)

    def of(self, program: Program) -> Amount:
        """Return the most that a run of a program takes. Raises `_Boundless`."""
        for current in _imports_first(program):
            if id(current) not in self.known:
                part = self._most_import(current)
                own = self.own(current)
                self.known[id(current)] = own.plus(part, self._rounds(current)) if part else own
        return self.known[id(program)]

    def first_most(self) -> Decimal | None:
        """Return what the first call may cost, as a budget would reserve it; None where the input or a price is not
        known."""
        output = self.window(self.root).output
        if self.first is None or output is None:
            return None
        return self._price(self.root.model_name, tokens_upper(self.first) + _tools_upper(self.root), output)

    def part(self, program: Program) -> Part | None:
        """Return what the dearest import adds."""
        if not program.imports:
            return None
        self.of(program)
        dearest = max(program.imports, key=lambda imported: self.known[id(imported)].dollars or Decimal(0))
        return Part(dearest.name, self._rounds(program), self.known[id(dearest)].dollars)

    def own(self, program: Program) -> Amount:
        """Return the calls of a program itself."""
        window = self.window(program)
        if window.output is None:
            hint = f'`limits: {{output-tokens: N}}`, --max-output-tokens, or models."{program.model_name}".max-output'
            raise _Boundless(f"nothing bounds what {program.model_name} may write in one call: {hint}")
        total = Amount(0, 0, 0, None)
        for input_tokens, times in self._inputs(program, window.output):
            cost = self._price(program.model_name, input_tokens, window.output)
            total = total.plus(Amount(1, input_tokens, window.output, cost), times)
        return total

    def window(self, program: Program) -> Window:
        """Return what bounds one call."""
        models, name = self.facts.models, program.model_name
        context, able = models.context(name, self.facts.service_of(name)), models.max_output(name)
        asked = most_output(program.parameters, program.limits.output_tokens)
        if asked is None and self.facts.cap is not None:
            asked = OUTPUT_UNDER_CAP
        unsaid = self.facts.unsaid.get(name) if asked is None else None
        bounds = {"output-tokens": asked, "the model": able, "its context": context, "its service": unsaid}
        known_bounds = {why: most for why, most in bounds.items() if most is not None}
        least = min(known_bounds, key=lambda why: known_bounds[why], default="")
        return Window(context, known_bounds.get(least), least)

    def _inputs(self, program: Program, output: int) -> Iterator[tuple[int, int]]:
        """Yield the most input of each call in turn, and how many calls have it."""
        context = self.facts.models.context(program.model_name, self.facts.service_of(program.model_name))
        first, growth = self._start(program, context), self._growth(program, output)
        iterations = _calls(program)
        for at in range(min(iterations, STEPPED)):
            input_tokens = first + at * growth
            if context is not None and input_tokens >= context:
                yield context, iterations - at
                return
            yield input_tokens, 1
        if iterations > STEPPED:
            yield first + iterations * growth, iterations - STEPPED

    def _start(self, program: Program, context: int | None) -> int:
        """Return the tokens of the first request, with the feedback that later ones repeat."""
        if program.sites or not all(server.waits for server in program.servers):
            if context is None:
                name = program.model_name
                raise _Boundless(
                    f'the tools of servers and sites are known only while it runs: models."{name}".context'
                )
            return context
        more = _tools_upper(program) + FEEDBACK_TOKENS
        if program is self.root and self.first is not None:
            return tokens_upper(self.first) + more
        return tokens_upper(_request(program, "")) + BODY_TOKENS + more

    def _growth(self, program: Program, output: int) -> int:
        """Return the most that one call adds to the next: its answer, and the results of its tools or why it was
        refused."""
        limits = program.limits
        results = limits.tool_calls * (limits.tool_result + MESSAGE_BYTES + 256) if program.has_tools else 0
        unmade = output * (MESSAGE_BYTES + 256) if program.has_tools else 0
        return output + 2 * MESSAGE_BYTES + max(results + unmade, FEEDBACK_TOKENS)

    def _rounds(self, program: Program) -> int:
        """Return calls of imports at most: the last call is made without tools."""
        return (program.limits.iterations - 1) * program.limits.tool_calls

    def _most_import(self, program: Program) -> Amount | None:
        parts = [self.known[id(imported)] for imported in program.imports]
        if not parts:
            return None
        costs = [part.dollars for part in parts if part.dollars is not None]
        return Amount(
            max(part.calls for part in parts),
            max(part.input_tokens for part in parts),
            max(part.output_tokens for part in parts),
            max(costs, default=None),
        )

    def _price(self, model_name: str, input_tokens: int, made: int) -> Decimal | None:
        key = (model_name, input_tokens, made)
        if key not in self.prices:
            ways = (
                Usage(input_tokens, made),
                Usage(input_tokens, made, input_tokens),
                Usage(input_tokens, made, 0, input_tokens),
            )
            costs = [cost for way in ways if (cost := self.facts.price(model_name, way)) is not None]
            self.prices[key] = max(costs, default=None)
        return self.prices[key]


def _imports_first(program: Program) -> list[Program]:
    """Return every program that can be reached, each after all that it imports; without recursion, as chains may be
    long."""
    order: list[Program] = []
    seen: set[int] = set()
    stack: list[tuple[Program, bool]] = [(program, False)]
    while stack:
        current, done = stack.pop()
        if done:
            order.append(current)
        elif id(current) not in seen:
            seen.add(id(current))
            stack.append((current, True))
            stack += [(inner, False) for inner in current.imports]
    return order


def _calls(program: Program) -> int:
    """Model calls of a program at most. Without tools each is an answer, of which so many may be refused."""
    refused = program.rejections
    if program.has_tools or refused is None:
        return program.limits.iterations
    return min(program.limits.iterations, refused + 1)


def _tools_upper(program: Program) -> int:
    """More tokens than the tools of a program have in a request, the built-in one included."""
    tickets = len(program.tickets) * 2 * TOOL_BYTES
    imports = (
        json_upper(imported.name, imported.description, imported.input_schema) + 2 * TOOL_BYTES
        for imported in program.imports
    )
    specs = (*(spec for _, spec in skill_specs(program.skills)), *mail_specs(program))
    skills = (json_upper(spec.name, spec.description, spec.parameters) + 2 * TOOL_BYTES for spec in specs)
    servers = (
        json_upper(server_tool_name(server.name, tool.name), tool.description or "", tool.parameters) + 2 * TOOL_BYTES
        for server in program.servers
        for tool in server.tools or ()
    )
    return tickets + sum(imports) + sum(skills) + sum(servers) + (PYTHON_TOKENS if program.has_tools else 0)


def _lowest(program: Program, first: ModelRequest | None, facts: EstimateInputs, most: Amount | None) -> Lower | None:
    """Return the limit that, set for all programs of the run, lowers the dollars most."""
    if most is None or most.dollars is None:
        return None
    lowers: list[Lower] = []
    for name, value in SENSIBLE:
        if (lowered := _with_limit(program, name, value)) is None:
            continue
        bounds = _Bounds(facts, first, lowered)
        dollars = bounds.of(lowered).dollars
        if dollars is not None and dollars < most.dollars:
            lowers.append(Lower(name.replace("_", "-"), value, dollars))
    return min(lowers, key=lambda lower: lower.dollars, default=None)


def _with_limit(program: Program, name: str, value: int) -> Program | None:
    """Return the program and all its imports with a limit, where that lowers it for one of them."""
    done: dict[int, Program] = {}
    changed = False
    for current in _imports_first(program):
        limits, now = current.limits, getattr(current.limits, name)
        if now is None or now > value:
            limits, changed = replace(current.limits, **{name: value}), True
        done[id(current)] = replace(current, limits=limits, imports=tuple(done[id(inner)] for inner in current.imports))
    return done[id(program)] if changed else None


def _amount(amount: Amount | None) -> dict[str, Value] | None:
    return (
        None
        if amount is None
        else {
            "calls": amount.calls,
            "tokens_in": amount.input_tokens,
            "tokens_out": amount.output_tokens,
            "dollars": _number(amount.dollars),
        }
    )


def _part(part: Part | None) -> dict[str, Value] | None:
    return None if part is None else {"program": part.program, "times": part.times, "dollars": _number(part.dollars)}


def _taken(likely: Likely | None) -> dict[str, Value] | None:
    return (
        None if likely is None else {"runs": likely.runs, "median": _amount(likely.median), "p95": _amount(likely.p95)}
    )


def _lower(lower: Lower | None) -> dict[str, Value] | None:
    return None if lower is None else {"limit": lower.limit, "value": lower.value, "dollars": _number(lower.dollars)}


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)
