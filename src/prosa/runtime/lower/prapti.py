"""A performed chat → the turns that answer it: participant, messages and parameters (P2–P8, PA12–PA18).

In: the result of `dialects.prapti.perform`. Out: one `Turn` for each participant who answers, or the reason why there
is none. Message structure comes from the chat alone; included or generated content is always text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from prosa.data import Value
from prosa.diagnostics import Problem, Severity
from prosa.dialects.prapti.commands import COMPLETION, DEFAULT_RESPONDER, TEXT_ROLES, Kind, Mode
from prosa.dialects.prapti.fields import setting_of, wrong_type
from prosa.dialects.prapti.model import PUBLIC_ROLES
from prosa.dialects.prapti.perform import Complaint, Performed, Said
from prosa.dialects.prapti.read import mentioned, wire_names, without_code
from prosa.runtime.messages import Message, Role, sequence

PARAMETERS = ("temperature", "top_p", "max_tokens", "stop", "presence_penalty", "frequency_penalty", "seed")
"""The well-known variables that go into a request under their own names (PA9)."""

MAX_REPLIES = 16
"""Replies to one message (`n`): each is paid for."""

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_ASKING = ("user", "prompt")


class Turn(Struct, frozen=True):
    """One requested answer. ``name`` is the answering participant, None if there is only one.

    ``messages`` are for a chat, ``prompt`` is for a completion. ``model_name`` and ``provider`` are those of the chat;
    None leaves them to the user. ``n`` is the number of replies.
    """

    responder: str
    mode: Mode
    name: str | None = None
    messages: tuple[Message, ...] = ()
    prompt: str = ""
    model_name: str | None = None
    provider: str | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict)
    n: int = 1
    stream: bool = True


class Lowered(Struct, frozen=True):
    """``turns`` in their order; if there are none, ``nothing`` says why. ``tools`` are the names that the chat selects
    among the granted, None for all of them; ``sites`` are URLs in the same way."""

    turns: tuple[Turn, ...]
    nothing: str
    tools: tuple[str, ...] | None
    sites: tuple[str, ...] | None
    dry_run: bool
    halts: bool
    complaints: tuple[Complaint, ...]


def lower(done: Performed, *, assistant_names: bool = False, force: bool = False) -> Lowered:
    """Return the turns of a chat. ``assistant_names`` is true if the service accepts names of assistants (PA18);
    ``force`` answers a chat even if its last message is not a question (PA17)."""
    work = _Lowering(done, assistant_names)
    sent = [remark for remark in done.said if _is_sent(remark)]
    work.warn_of_roles()
    last = sent[-1] if sent and sent[-1].standing.layer.kind == "document" else None
    nothing = "" if last is not None and force else _nothing(last)
    turns = () if nothing or last is None else work.turns(sent, last)
    if last is not None and not nothing and not turns:
        nothing = f"no responder that is asked takes messages of the {last.standing.message.known_role}"
    return Lowered(
        turns=turns,
        nothing=nothing,
        tools=work.texts("tools"),
        sites=work.texts("mdh"),
        dry_run=work.flag("prapti.dry_run", default=False),
        halts=work.flag("prapti.halt_on_error", default=True),
        complaints=tuple(work.complaints),
    )


def spoken(done: Performed) -> tuple[Message, ...]:
    """Return all messages of a chat in order, for any responder: without empty ones, prompts as those of a user and
    completions as those of an assistant, names as written."""
    roles = {**_ROLES, "prompt": _ROLES["user"], "completion": _ROLES["assistant"]}
    sent = (remark for remark in done.said if _is_sent(remark) and remark.text)
    messages = ((remark.standing.message, remark.text) for remark in sent)
    return tuple(Message(roles[message.known_role], text, name=message.name) for message, text in messages)


def _is_sent(entry: Said) -> bool:
    return entry.standing.message.sent


def _nothing(last: Said | None) -> str:
    """Return why there is nothing to answer (PA17), or an empty text."""
    if last is None:
        return "the chat has no message to answer"
    message = last.standing.message
    if message.known_role not in _ASKING:
        return f"the last message is of the {message.known_role}: there is nothing to answer"
    return "" if last.text else f"the last message, of the {message.known_role}, is empty"


class _Lowering(Struct):
    """The requests of a chat, with their problems."""

    done: Performed
    assistant_names: bool
    complaints: list[Complaint] = field(default_factory=list)
    checked: set[str] = field(default_factory=set)

    def turns(self, sent: Sequence[Said], last: Said) -> tuple[Turn, ...]:
        """Return those whom the last message speaks to, else the responder that is active."""
        responders = self.done.responders
        known = [name for name in responders.known if name != DEFAULT_RESPONDER]
        spoken_to = mentioned(without_code(last.standing.message.content), known) if known else ()
        asked = spoken_to or (self._active(),)
        role = last.standing.message.known_role
        kinds = {name: COMPLETION if role in TEXT_ROLES else responders.known[name] for name in asked}
        return tuple(self._turn(name, kind, sent, known) for name, kind in kinds.items() if role in kind.roles)

    def _active(self) -> str:
        """Return the responder on top; a stack in the configuration applies if no command changed it."""
        responders = self.done.responders
        stack = self.texts("prapti.responder_stack")
        if stack and responders.stack == (DEFAULT_RESPONDER,) and stack[-1] in responders.known:
            return stack[-1]
        return responders.active

    def _turn(self, name: str, kind: Kind, sent: Sequence[Said], known: Sequence[str]) -> Turn:
        taken = [remark for remark in sent if remark.standing.message.known_role in kind.roles]
        chat = kind.mode == "chat"
        return Turn(
            responder=name,
            mode=kind.mode,
            name=None if name == DEFAULT_RESPONDER else name,
            messages=sequence(self._messages(name, taken, known)) if chat else (),
            prompt="" if chat else "\n\n".join(remark.text for remark in taken if remark.text),
            model_name=_text(self.value(name, "model")),
            provider=_text(self.value(name, "provider")) or kind.provider,
            parameters={key: value for key in PARAMETERS if (value := self.value(name, key)) is not None},
            n=self._count(name),
            stream=self.value(name, "stream") is not False,
        )

    def _count(self, responder: str) -> int:
        """Return how many replies are wanted."""
        count = self.value(responder, "n")
        if not isinstance(count, int) or count <= MAX_REPLIES:
            return count if isinstance(count, int) else 1
        value = self.done.values.get(f"responders.{responder}.n") or self.done.values["vars.n"]
        problem = Problem("wrong-type", f"`n` is at most {MAX_REPLIES}", value.line.value_span, severity=Severity.ERROR)
        self.complaints.append(Complaint(problem, value.source))
        return 1

    def _messages(self, own: str, sent: Sequence[Said], known: Sequence[str]) -> Iterator[Message]:
        """Yield the conversation as one participant sees it: others speak as users, and have instructions of their
        own."""
        names = wire_names(remark.standing.message.name for remark in sent if remark.standing.message.name)
        for remark in sent:
            message = remark.standing.message
            role, name = _ROLES[message.known_role], message.name
            if not remark.text:
                continue
            if name in known and role == "system":
                if name == own:
                    yield Message("system", remark.text)
                continue
            if name in known and role == "assistant" and name != own:
                role = "user"
            passed = name if role != "assistant" or self.assistant_names else None
            yield Message(role, remark.text, name=names[passed] if passed else None)

    def value(self, responder: str, key: str) -> Value:
        """Return a well-known variable: the responder's own, else the one of all (PA9)."""
        own = self._checked(f"responders.{responder}.{key}")
        return self._checked(f"vars.{key}") if own is None else own

    def texts(self, path: str) -> tuple[str, ...] | None:
        """Return a list of texts, None where it is not set."""
        values = self._checked(path if "." in path else f"vars.{path}")
        return tuple(item for item in values if isinstance(item, str)) if isinstance(values, list) else None

    def flag(self, path: str, *, default: bool) -> bool:
        """Return the value of a switch."""
        value = self._checked(path)
        return value if isinstance(value, bool) else default

    def _checked(self, path: str) -> Value:
        """Return the value in effect, None if it is not set or invalid, which is reported once."""
        value = self.done.values.get(path)
        setting = setting_of(path)
        if value is None or setting is None:
            return None if value is None else value.value
        if value.problem is not None:
            problem = Problem("unresolved-variable", value.problem, value.line.value_span)
        elif wanted := wrong_type(setting, value.value):  # a literal is complained about where it is read
            if value.line.variable is None:
                return None
            problem = Problem("wrong-type", f"`{path}` must be {wanted}", value.line.value_span)
        else:
            return value.value
        if path not in self.checked:
            self.checked.add(path)
            self.complaints.append(Complaint(problem, value.source))
        return None

    def warn_of_roles(self) -> None:
        """Warn of messages that no responder takes (PA12)."""
        for remark in self.done.said:
            message = remark.standing.message
            if not message.hidden and message.known_role not in PUBLIC_ROLES:
                text = f"the role `{message.role}` is unknown, so this message is not sent"
                note = f"roles are {', '.join(PUBLIC_ROLES)}; `_` in front hides one"
                problem = Problem("unknown-role", text, message.role_span, (note,), severity=Severity.WARNING)
                self.complaints.append(Complaint(problem, remark.standing.layer.model.source))


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) and value else None
