"""Sites as tools of a chat: granted by the user, chosen among by the chat (X7, X15)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prosa.app.chat.prepare import granted
from prosa.runtime.errors import RunError
from tests.app.chat.chats import ready
from tests.app.chat.turns import ASK, User
from tests.app.run.site_tools.runs import calls
from tests.app.run.site_tools.site import Site

SITE, OTHER = "https://ferries.example", "https://tides.example"
GRANTS = (f"mdh:{SITE}", f"mdh:{OTHER}", "python")


def names(folder: Path, line: str, **asked: Any) -> tuple[str, ...]:
    """The sites that a chat with a configuration line is offered."""
    return ready(folder, f"{line}\n\n{ASK}", **asked).tools.sites


def test_x7_a_chat_has_no_sites_unless_granted(tmp_path: Path):
    for line in (f'% mdh = ["{SITE}"]', f'% tools = ["mdh:{SITE}"]'):
        conversation = ready(tmp_path, f"{line}\n\n{ASK}")
        assert conversation.tools.sites == ()
        (found,) = conversation.diagnostics
        assert found.rule == "refused-configuration" and found.span.start > 0
        assert found.message == f"the tool `mdh:{SITE}` is not granted, so the model is not offered it"
        assert found.notes[0].startswith(f"grant it: --tool mdh:{SITE}")


def test_x7_a_chat_chooses_among_the_granted_sites(tmp_path: Path):
    assert names(tmp_path, "", tools=GRANTS) == (SITE, OTHER)
    assert names(tmp_path, f'% mdh = ["{OTHER}"]', tools=GRANTS) == (OTHER,)
    assert names(tmp_path, "% mdh = []", tools=GRANTS) == ()
    assert names(tmp_path, f'% tools = ["mdh:{SITE}"]', tools=GRANTS) == (SITE,)
    assert names(tmp_path, '% tools = ["python"]', tools=GRANTS) == ()
    assert ready(tmp_path, f"% mdh = []\n\n{ASK}", tools=GRANTS).tools.python


def test_x7_a_trusted_chat_grants_the_sites_that_it_names(tmp_path: Path):
    assert names(tmp_path, f'% mdh = ["{SITE}"]', trusted=True) == (SITE,)
    assert names(tmp_path, f'% tools = ["mdh:{SITE}"]', trusted=True) == (SITE,)
    (tmp_path / ".prapticonfig.md").write_text(f'% mdh = ["{SITE}"]\n')
    assert names(tmp_path, "", trusted=True) == ()


@pytest.mark.parametrize("url", ["ferries.example", "file:///x", "https://a:b@c.example", ""])
def test_what_is_no_site_is_not_granted(url: str):
    with pytest.raises(RunError, match="the site"):
        granted([f"mdh:{url}"], lambda _: None)  # type: ignore[arg-type,return-value]


BOOK = calls(("mdh__berths_book", {"body": {"name": "Ada"}}))


def test_x15c_a_chat_calls_actions_of_a_site(site: Site, tmp_path: Path):
    """The URL on the command line names this machine, so nothing more is needed to ask there (X8)."""
    user = User(tmp_path)
    user.write(ASK)
    model = user.script(BOOK, calls(("visit", {"to": "/ferries"})), "Done.")
    done = user.chat("--tool", f"mdh:{site.url}", "--allow-action", "berths.book", "--model", model)
    assert (done.status, done.out) == (0, "Done.\n"), done.err
    assert len(site.of("/api/berths")) == 1 and len(site.of("/ferries")) == 1
    assert "`mdh__berths_book` was called with" in user.text and "### @_tools:" in user.text


def test_ha19a_a_chat_changes_nothing_without_permission(site: Site, tmp_path: Path):
    user = User(tmp_path)
    user.write(ASK)
    done = user.chat("--tool", f"mdh:{site.url}", "--model", user.script(BOOK, "No."))
    assert done.status == 0 and "was not permitted; nothing was sent" in user.text
    assert site.of("/api/berths") == []


def test_x8_a_loopback_site_of_a_trusted_chat_needs_a_flag(site: Site, tmp_path: Path):
    user = User(tmp_path)
    user.write(f'% mdh = ["{site.url}"]\n\n{ASK}')
    refused = user.chat("--trusted", "--model", user.script("Hi."))
    assert refused.status == 1 and "add --allow-private" in refused.err and site.asked == []
    allowed = user.chat("--trusted", "--allow-private", "--model", user.script("Hi."))
    assert (allowed.status, allowed.out) == (0, "Hi.\n")


def test_a_chat_from_python_is_granted_sites_too(site: Site, tmp_path: Path):
    import prosa
    from prosa.testing import ScriptedProvider

    replies = ScriptedProvider([BOOK, {"content": "Done."}])
    rights = prosa.SiteRights(actions=("berths.book",))
    environ = {"HOME": str(tmp_path), "PROSA_CONFIG_DIR": str(tmp_path)}
    told = prosa.chat(ASK, provider=replies, tools=[f"mdh:{site.url}"], sites=rights, environ=environ)
    assert told.reply == "Done."
    assert json.loads(site.of("/api/berths")[0].body) == {"name": "Ada"}
