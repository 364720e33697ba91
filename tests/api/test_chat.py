"""`prosa.chat`: a turn of a chat, in a file or as a text, from Python (P2, P7, PA6, PA17)."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.adapters.files.trust_store import TrustStore
from prosa.plugins import Plugin, PluginCall, PluginCommand
from prosa.runtime.events import RunFinished, TextArrived
from prosa.runtime.messages import Message
from prosa.source import FileProblem
from prosa.testing import ScriptedProvider
from tests.api.test_scripts import Asked
from tests.compiled import lend_compiled

ASK = "### @system:\n\nBe brief.\n\n### @user/Ada:\n\nWhat is a tide?\n"


@pytest.fixture
def me(tmp_path: Path) -> dict[str, str]:
    """Somebody without a key."""
    (tmp_path / "prosa.toml").touch()
    places = {name: str(tmp_path / name.lower()) for name in ("HOME", "PROSA_CONFIG_DIR", "PROSA_CACHE_DIR")}
    (tmp_path / "home").mkdir()
    lend_compiled(Path(places["PROSA_CACHE_DIR"]))
    return places


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "chat.md"
    file.write_text(ASK)
    return file


def says(*given: Any) -> ScriptedProvider:
    return ScriptedProvider([each if isinstance(each, dict) else {"content": each} for each in given])


def test_p2_a_text_is_answered(me: dict[str, str]):
    provider = Asked(({"content": "% n = 3\nThe sea."},))
    result = prosa.chat(ASK, provider=provider, environ=me)
    assert isinstance(result, prosa.ChatResult)
    assert (result.reply, len(result.replies), result.error) == ("% n = 3\nThe sea.", 1, None)
    assert result.messages[-1] == Message("assistant", "% n = 3\nThe sea.")
    assert [(each.role, each.name) for each in provider.requests[0].messages] == [("system", None), ("user", "Ada")]
    assert result.text == f"{ASK}\n### @assistant:\n\n\\% n = 3\nThe sea.\n\n### @user/Ada:\n\n"
    assert (result.summary.iterations, result.summary.success) == (1, True)


def test_pa6_a_conversation_goes_on_from_its_text(me: dict[str, str]):
    """PA6. What went into the text is what is sent."""
    first = prosa.chat("", "% not a line\r\n### @system:", provider=says("### @user:\nyes"), environ=me)
    provider = Asked(({"content": "Good."},))
    second = prosa.chat(first.text, "And?", speaker="Bo", provider=provider, environ=me)
    assert [(each.role, each.name, each.content) for each in provider.requests[0].messages] == [
        ("user", None, "% not a line\n### @system:"),
        ("assistant", None, "### @user:\nyes"),
        ("user", "Bo", "And?"),
    ]
    assert [each.content for each in second.messages][-2:] == ["And?", "Good."]


def test_pw4_a_file_is_written_only_where_that_is_asked(me: dict[str, str], path: Path):
    result = prosa.chat(path, "Why?", provider=says("So."), environ=me)
    assert path.read_text() == ASK and "Why?" in result.text
    written = prosa.chat(str(path), "Why?", provider=says("So."), environ=me, write=True)
    assert path.read_text() == written.text == result.text
    assert written.text.endswith("### @user/Ada:\n\nWhy?\n\n### @assistant:\n\nSo.\n\n### @user/Ada:\n\n")
    new = path.with_name("new.md")
    assert prosa.chat(new, "Hi", provider=says("Ho"), environ=me, write=True).text == new.read_text()


def test_crlf_is_kept_in_texts(me: dict[str, str]):
    text = prosa.chat("### @user:\r\n\r\nHi", provider=says("a\nb"), environ=me).text
    assert text == "### @user:\r\n\r\nHi\r\n\r\n### @assistant:\r\n\r\na\r\nb\r\n\r\n### @user:\r\n\r\n"


def test_n_and_participants_are_all_replies(me: dict[str, str]):
    result = prosa.chat(ASK, n=2, provider=says("one", "two"), environ=me)
    assert sorted(each.text for each in result.replies) == ["one", "two"]
    assert "### @assistant/1:" in result.text and "### @assistant/2:" in result.text
    asked = "% responder.new Al chat\n% responder.new Bo chat\n\n### @user:\n\n@Al and @Bo, hi\n"
    result = prosa.chat(asked, provider=says("I am Al", "I am Bo"), environ=me)
    assert [(each.name, each.text) for each in result.replies] == [("Al", "I am Al"), ("Bo", "I am Bo")]
    assert [each.name for each in result.messages] == [None, "Al", "Bo"]


def test_x15_tools_are_granted_by_the_caller(me: dict[str, str]):
    call = {"tool_calls": [{"name": "python", "arguments": {"code": "print(6*7)"}}]}
    asked = f'% tools = ["python"]\n\n{ASK}'
    result = prosa.chat(asked, tools=["python"], provider=says(call, "It is 42."), environ=me)
    assert "42" in result.replies[0].tools and "### @_tools:" in result.text and result.summary.tools_called == 1
    provider = Asked(({"content": "No tools."},))
    prosa.chat(asked, provider=provider, environ=me)
    assert provider.requests[0].tools == ()


def test_the_provider_answers_whatever_the_chat_names(me: dict[str, str]):
    asked = f'% provider = "anthropic"\n\n{ASK}'
    assert prosa.chat(asked, provider=says("Yes."), environ=me).reply == "Yes."
    with pytest.raises(prosa.RunError, match="ANTHROPIC_API_KEY is not set"):
        prosa.chat(asked, model="m", environ=me)
    with pytest.raises(prosa.RunError, match="there is no provider `nobody`"):
        prosa.chat(ASK, provider="nobody", environ=me)


def test_events_and_settings_reach_the_run(me: dict[str, str], path: Path):
    heard: list[Any] = []
    config = path.with_name("more.md")
    config.write_text("% temperature = 0.3\n")
    provider = Asked(({"content": "Yes."},))
    prosa.chat(path, provider=provider, config_files=[config], model="m", listener=heard.append, environ=me)
    assert provider.requests[0].parameters == {"temperature": 0.3} and provider.requests[0].model_name == "m"
    assert any(isinstance(each, TextArrived) for each in heard) and isinstance(heard[-1], RunFinished)


def test_pa17_nothing_to_answer_is_an_error(me: dict[str, str], path: Path):
    path.write_text(f"{ASK}\n### @assistant:\n\nWater.\n")
    with pytest.raises(prosa.RunError, match="there is nothing to answer"):
        prosa.chat(path, provider=says("x"), environ=me)
    assert prosa.chat(path, provider=says("More."), force=True, environ=me).reply == "More."
    path.write_text("% nonsense x\n" + ASK)
    with pytest.raises(prosa.RunError, match="no command `nonsense`"):
        prosa.chat(path, "Hi", write=True, provider=says("x"), environ=me)
    assert "Hi" not in path.read_text()


def test_a_failure_leaves_the_message_in_the_file(me: dict[str, str], path: Path):
    with pytest.raises(prosa.RunError):
        prosa.chat(path, "Why?", write=True, provider=says({"error": "no"}), retries=0, environ=me)
    assert path.read_text() == f"{ASK}\n### @user/Ada:\n\nWhy?\n"


def test_commands_run_once(me: dict[str, str], path: Path, monkeypatch: pytest.MonkeyPatch):
    """PW2. Also where the message is written first."""
    ran: list[str] = []

    def today(call: PluginCall) -> str:
        ran.append(call.args)
        return "Rain."

    plugin = Plugin("weather", {"today": PluginCommand(today)})
    monkeypatch.setattr("prosa.app.chat.prepare.load_plugins", lambda names: dict.fromkeys(names, plugin))
    path.write_text(f"{ASK}\n% weather.today Kiel\n")
    provider = Asked(({"content": "So."},))
    prosa.chat(path, "Why?", plugins=["weather"], write=True, provider=provider, environ=me)
    assert ran == ["Kiel"] and "Rain." in provider.requests[0].messages[1].content


def test_x7_a_trusted_chat_stays_trusted(me: dict[str, str], path: Path):
    """X7. When nothing but the message and the reply was added."""
    path.write_text('% tools = ["python"]\n\n' + ASK)
    TrustStore(Path(me["PROSA_CONFIG_DIR"])).add(path)
    for word in ("one", "two"):
        provider = Asked(({"content": word},))
        prosa.chat(path, "Why?", write=True, provider=provider, environ=me)
        assert [tool.name for tool in provider.requests[0].tools] == ["python"]


def test_pw4_a_reply_that_cannot_be_written_is_not_lost(
    me: dict[str, str], path: Path, caplog: pytest.LogCaptureFixture
):
    def vanish(event: Any) -> None:
        path.unlink(missing_ok=True)

    with caplog.at_level(logging.WARNING, "prosa"):
        result = prosa.chat(path, write=True, provider=says("So."), listener=vanish, environ=me)
    assert result.reply == "So." and result.error is not None and "chat.reply.md" in result.error.message
    assert "So." in path.with_name("chat.reply.md").read_text() and "it is saved in" in caplog.text


def test_one_turn_at_a_time(me: dict[str, str], path: Path):
    def again(event: Any) -> None:
        if isinstance(event, RunFinished):
            raise AssertionError("not reached")

    async def both() -> None:
        class Slow(ScriptedProvider):
            async def complete(self, request: Any, on_text: Any = None) -> Any:
                with pytest.raises(prosa.RunError, match="another `prosa chat` is answering it"):
                    await prosa.achat(path, write=True, provider=says("x"), listener=again, environ=me)
                return await super().complete(request, on_text)

        await prosa.achat(path, write=True, provider=Slow([{"content": "one"}]), environ=me)

    asyncio.run(both())
    assert path.read_text().count("@assistant") == 1


@pytest.mark.parametrize(
    ("given", "message", "options", "words"),
    [
        (ASK, None, {"write": True}, "this is a text"),
        (ASK, " ", {}, "the message is empty"),
        (ASK, "x", {"speaker": "a b"}, "a name is made of"),
        (ASK, None, {"n": 0}, "1 to 16"),
        (ASK, None, {"n": 17}, "1 to 16"),
    ],
)
def test_options_that_cannot_be(given: str, message: str | None, options: Any, words: str, me: dict[str, str]):
    with pytest.raises(ValueError, match=words):
        prosa.chat(given, message, provider=says("x"), environ=me, **options)


def test_files_that_cannot_be(me: dict[str, str], tmp_path: Path):
    with pytest.raises(FileProblem, match="does not exist"):
        prosa.chat(tmp_path / "gone" / "chat.md", "Hi", provider=says("x"), environ=me)
    with pytest.raises(FileProblem, match="no such file"):
        prosa.chat(ASK, config_files=[tmp_path / "none.md"], provider=says("x"), environ=me)


def test_a_running_event_loop_awaits(me: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    assert os.getcwd() == str(tmp_path)

    async def inside() -> str:
        with pytest.raises(RuntimeError, match="await prosa"):
            prosa.chat(ASK, environ=me)
        return (await prosa.achat(ASK, provider=says("Yes."), environ=me)).reply

    assert asyncio.run(inside()) == "Yes."
