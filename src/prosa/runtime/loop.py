"""The agent loop (L10). It only steps: every step takes a state and gives the next one, or the accepted value.

Retries, tools, validation, recording and reporting are separate values handed to it. One model call is one
iteration (LA7).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Value
from prosa.runtime import prompt
from prosa.runtime.errors import AnswerCut, BudgetSpent, OutputRefused, ProviderError
from prosa.runtime.events import AnswerRejected, ModelAnswered, ModelAsked, Noticed, Scope, TextArrived
from prosa.runtime.journal import ModelStep
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.output import CUT, Accepted, Contract, OutputContract, Rejected
from prosa.runtime.pacing import with_retries
from prosa.runtime.parameters import most_output
from prosa.runtime.program import Program
from prosa.runtime.prompt import Transcript
from prosa.runtime.python_tool import PYTHON_SPEC
from prosa.runtime.tools import Toolbox
from prosa.runtime.world import World

CUT_NOTICE = "the answer was cut off at the length limit of the model, and is accepted as it is"
NO_TOOLS = "no tools are available any more; answer with {wanted}"


class Task(Struct, frozen=True):
    """What stays the same over all iterations: the program, its rendered body, its tools, its contract."""

    program: Program
    body: str
    contract: Contract
    toolbox: Toolbox
    scope: Scope


class State(Struct, frozen=True):
    """What changes: iterations done, the transcript, why the last answer was not accepted, how many were not, the last
    of them, how often it came in a row, and whether it stands in the transcript once for all."""

    iteration: int = 0
    transcript: Transcript = field(default_factory=Transcript)
    rejected: tuple[str, ...] = ()
    rejections: int = 0
    answer: str | None = None
    times: int = 0
    drops_repeats: bool = False


class Done(Struct, frozen=True):
    """The loop has its output; ``cut`` says that the answer was cut off and the user allows that."""

    value: Value
    cut: bool = False


async def run_loop(task: Task, world: World) -> Done:
    """Step until an answer is accepted.

    Raises `AnswerCut` for a text that was cut off, and `OutputRefused` after the last iteration (L13).
    """
    state: State | Done = State()
    while isinstance(state, State):
        if _is_exhausted(task.program, state):
            raise _exhausted(task.program, state)
        state = await step(task, world, state)
    return state


async def step(task: Task, world: World, state: State) -> State | Done:
    """Return one iteration: ask, then either run the tools that were asked for or judge the answer.

    Where the budget does not hold a call with tools, a last answer without them is asked for, if that fits (X26).
    """
    final = state.iteration + 1 >= task.program.limits.iterations
    try:
        reply = await _ask(task, world, state, final=final)
    except BudgetSpent as error:
        if final or error.later or not task.toolbox.specs:
            raise
        final, reply = True, await _ask(task, world, state, final=True)
    after = replace(state, iteration=state.iteration + 1)
    if reply.tool_calls and not final and _may_call(task):
        results = await task.toolbox.answer(reply.tool_calls, f"{task.scope.path}{after.iteration}")
        transcript = state.transcript.with_tool_calls(reply, results)
        return replace(after, transcript=transcript, answer=None, times=0)
    return _judge(task, world, after, reply)


def _may_call(task: Task) -> bool:
    """Return whether tool calls are answered. Where none is offered and corrections are counted, they are a wrong
    answer."""
    return bool(task.toolbox.offered) or task.program.rejections is None


def request_of(task: Task, state: State, *, final: bool) -> ModelRequest:
    """Return the model call of an iteration. On the final one tools are withheld (LA7)."""
    program = task.program
    limit = program.limits.output_tokens
    return ModelRequest(
        model_name=program.model_name,
        messages=prompt.messages(program, task.contract, task.body, state.transcript, state.rejected, final=final),
        tools=() if final else task.toolbox.specs,
        output=task.contract.format,
        schema=task.contract.raw if isinstance(task.contract, OutputContract) else None,
        parameters=program.parameters,
        program=program.name,
        max_output=None if limit is None else most_output(program.parameters, limit),
        implied=() if program.asks_python else (PYTHON_SPEC.name,),
        repeats=state.times - 1 if state.drops_repeats and state.times else 0,
    )


async def _ask(task: Task, world: World, state: State, *, final: bool) -> ModelReply:
    scope, listener = task.scope, world.listener
    iteration = state.iteration + 1
    request = request_of(task, state, final=final)
    listener(ModelAsked(scope, iteration, final))
    on_text: Callable[[str], None] | None = None
    if world.stream:

        def on_text(text: str) -> None:
            listener(TextArrived(scope, text))

    ask = partial(
        with_retries,
        partial(world.provider.complete, request, on_text),
        retries=task.program.limits.retries,
        clock=world.clock,
        jitter=world.jitter,
        listener=listener,
        scope=scope,
    )
    try:
        reply = await world.journal.reply(ModelStep(f"{scope.path}{iteration}", request, scope, on_text), ask)
    except ProviderError as error:
        raise _with_reason(error, state.rejected) from error
    listener(_answered(scope, iteration, request, reply))
    return reply


def _answered(scope: Scope, iteration: int, request: ModelRequest, reply: ModelReply) -> ModelAnswered:
    return ModelAnswered(
        scope,
        iteration,
        reply.usage,
        reply.model_name or request.model_name,
        reply.content,
        len(reply.tool_calls),
        answered_by=reply.model_name,
        service=reply.service,
        finish=reply.finish,
    )


def _with_reason(error: ProviderError, rejected: tuple[str, ...]) -> ProviderError:
    """Return the error of a provider that has nothing to say any more, with why it was asked again."""
    if error.kind != "missing" or not rejected:
        return error
    message = f"{error.message}; it was called again because the last answer was rejected: {'; '.join(rejected)}"
    return ProviderError(message, kind=error.kind, retryable=error.retryable, status=error.status, hint=error.hint)


def _judge(task: Task, world: World, state: State, reply: ModelReply) -> State | Done:
    if reply.finish in ("refusal", "filter"):
        raise OutputRefused(f"the model refused to answer: {reply.refusal or reply.content or 'no reason given'}")
    verdict = _no_tools(task.contract, reply) if reply.tool_calls else task.contract.judge(reply)
    if isinstance(verdict, Accepted):
        if verdict.cut and not world.allow_cut:
            raise AnswerCut(reply.content)
        if verdict.cut:
            world.listener(Noticed(task.scope, f"{task.program.name}: {CUT_NOTICE}"))
        return Done(verdict.value, verdict.cut)
    world.listener(AnswerRejected(task.scope, state.iteration, verdict.problems))
    return _after_rejected(state, verdict, drops_repeats=reply.drops_repeats)


def _after_rejected(state: State, verdict: Rejected, *, drops_repeats: bool) -> State:
    """Return the state after a refused answer. An equal one is not added where the model would only copy it again."""
    is_repeat = (verdict.content, verdict.problems) == (state.answer, state.rejected)
    transcript = state.transcript
    if not (is_repeat and drops_repeats):
        transcript = transcript.with_rejected(verdict.content, prompt.feedback(verdict.problems))
    return replace(
        state,
        transcript=transcript,
        rejected=verdict.problems,
        rejections=state.rejections + 1,
        answer=verdict.content,
        times=state.times + 1 if is_repeat else 1,
        drops_repeats=drops_repeats,
    )


def _no_tools(contract: Contract, reply: ModelReply) -> Rejected:
    return Rejected((NO_TOOLS.format(wanted=contract.wanted),), reply.content or "{}")


def _is_exhausted(program: Program, state: State) -> bool:
    most = program.rejections
    return state.iteration >= program.limits.iterations or (most is not None and state.rejections > most)


def _exhausted(program: Program, state: State) -> OutputRefused:
    reason = "; ".join(state.rejected) or "the model never gave an answer"
    if state.times > 1:
        reason += f"; the model gave the same answer {state.times} times"
    tried = "1 iteration" if state.iteration == 1 else f"{state.iteration} iterations"
    hint = "raise the limit with `limits: {iterations: N}` in the program or with --max-iterations"
    if CUT in state.rejected and program.limits.output_tokens is not None:
        hint = "raise the limit with `limits: {output-tokens: N}` in the program or with --max-output-tokens"
    if program.rejections is not None and state.rejections > program.rejections:
        hint = "`retry-times` in the block says how often the model may correct its answer"
    return OutputRefused(f"validation failed: no valid output after {tried}: {reason}", hint=hint)
