"""What a service says of the key that it was asked with (X7, X25)."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.adapters.providers.endpoint import Endpoint
from prosa.adapters.providers.secrets import LEAST, HidingPieces, Secrets
from prosa.runtime.messages import ModelReply, ToolCall

KEY = "sk-9f8e7d6c5b4a/x+y=0"
FORMS = (
    KEY,
    quote(KEY, safe=""),
    quote(KEY, safe="").replace("%2F", "%2f").replace("%2B", "%2b").replace("%3D", "%3d"),
)
around = st.text(st.characters(exclude_characters="*"), max_size=8)


@given(around, st.sampled_from(FORMS), st.integers(LEAST, 60), around)
def test_x7_a_key_is_hidden_whole_encoded_and_cut_short(before: str, form: str, length: int, after: str):
    """X7, X25: also the first twelve characters of it."""
    hidden = Secrets.of([KEY]).hidden(f"{before}{form[:length]}{after}")
    assert form[:LEAST] not in hidden and "***" in hidden
    assert hidden.startswith(before) and len(hidden) <= len(before) + 3 + len(after)


@given(st.text())
def test_x7_a_text_without_the_key_stays_as_it_is(text: str):
    assert Secrets.of([KEY]).hidden(text) == text or KEY[:LEAST] in text


@given(st.lists(st.one_of(st.sampled_from(FORMS), st.text("sk-9f8e7d%*a\n", max_size=6)), max_size=8), st.data())
def test_x7_pieces_of_a_reply_hold_no_key_however_it_is_cut(parts: list[str], data: st.DataObject):
    """X7: a stream says in the end what the whole reply says."""
    text, secrets, heard = "".join(parts), Secrets.of([KEY]), list[str]()
    hiding = HidingPieces(secrets, heard.append)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        hiding(text[start:end])
    hiding.end()
    assert "".join(heard) == secrets.hidden(text)


@pytest.mark.parametrize("value", ["ollama", "not-needed", "lm-studio", "", None])
def test_x7_a_word_that_stands_for_a_key_is_no_secret_in_a_reply(value: str | None):
    assert Secrets.of([value]).hidden(f"Start {value} first.") == f"Start {value} first."
    assert Endpoint("https://example.org", value).redact("x") == "x"


def test_x7_how_the_keys_of_a_service_begin_tells_none_of_them():
    secrets = Secrets.of(["sk-ant-api03-R2D2C3POBB8"])
    assert secrets.hidden("A key begins with sk-ant-api03-.") == "A key begins with sk-ant-api03-."
    assert secrets.hidden("sk-ant-api03-R2D2C3…") == "***…"


def test_x7_every_part_of_a_reply_is_looked_at():
    call = ToolCall(KEY, f"f{KEY}", f'{{"a": "{KEY}"}}')
    reply = ModelReply(KEY, (call,), model_name=KEY, refusal=KEY, opaque=f'["{KEY}"]')
    assert KEY[:LEAST] not in repr(Secrets.of([KEY]).reply(reply))
    assert Secrets.of([KEY]).reply(harmless := ModelReply("a", (ToolCall("1", "f", "{}"),))) is harmless
