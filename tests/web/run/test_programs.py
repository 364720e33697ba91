"""Programs as POST actions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.web.run.site import BEARER, FORM, JSON, TOKEN, Slow, answered_by, greeting, site


def test_x6_nothing_runs_without_permission(tmp_path: Path) -> None:
    """X6. Without --allow-run a program is a document: no action, and the URL says why."""

    async def work() -> None:
        with site(greeting(tmp_path), allow=False) as at:
            assert "actions" not in (await at.call("GET", "/greet.json")).json
            reply = await at.run()
            assert (reply.status, reply.headers["content-type"]) == (403, "application/problem+json")
            assert "--allow-run" in reply.json["detail"]

    asyncio.run(work())


def test_h12_only_the_holder_of_the_token_runs_a_program(tmp_path: Path) -> None:
    """H12. The token goes into a header; in a URL, in a cookie or in the body it is nothing."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            url, body = "/mdh/run/greet", {"name": "Ada"}
            for headers, path in (
                ({}, url),
                ({"authorization": "Bearer wrong"}, url),
                ({"authorization": f"Basic {TOKEN}"}, url),
                ({"cookie": f"prosa-session={TOKEN}"}, url),
                ({}, f"{url}?token={TOKEN}&access_token={TOKEN}"),
            ):
                reply = await at.call("POST", path, {**JSON, **headers}, body)
                assert reply.status == 401
                assert reply.headers["www-authenticate"].startswith("Bearer")
                assert TOKEN not in reply.text
            assert (await at.run()).status == 200

    asyncio.run(work())


def test_x7_that_a_key_stays_here_is_said_once_and_not_for_every_run(tmp_path: Path) -> None:
    """X7."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            runner = at.runner
            runner.options = replace(runner.options, model=None, base_url="http://127.0.0.1:9/v1")
            environ = {**runner.environment.environ, "OPENAI_API_KEY": "sk-mine"}
            runner.environment = replace(runner.environment, environ=environ)
            assert [(await at.run()).status for _ in range(3)] == [502] * 3
            about = [each for each in at.said if "OPENAI_API_KEY is not sent to http://127.0.0.1:9/v1" in each]
            assert len(about) == 1

    asyncio.run(work())


def test_h20_a_cookie_alone_runs_nothing(tmp_path: Path) -> None:
    """H20. Beside its cookie a browser shows the value of the site's own pages, in a header; another site has none."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            cookie, csrf = await at.signed_in()
            other = {**JSON, **cookie, "origin": "https://elsewhere.example", "x-csrf-token": csrf}
            for headers in ({**JSON, **cookie}, {**JSON, **cookie, "x-csrf-token": f"{csrf}x"}, other):
                assert (await at.call("POST", "/mdh/run/greet", headers, {"name": "Ada"})).status == 403
            good = {**JSON, **cookie, "x-csrf-token": csrf, "origin": "http://site.test"}
            assert (await at.call("POST", "/mdh/run/greet", good, {"name": "Ada"})).status == 200

    asyncio.run(work())


def test_h17_a_program_is_not_run_by_get(tmp_path: Path) -> None:
    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            reply = await at.call("GET", "/mdh/run/greet", BEARER)
            assert (reply.status, reply.headers["allow"]) == (405, "POST")

    asyncio.run(work())


def test_l12_everything_that_is_wrong_with_an_input_is_said(tmp_path: Path) -> None:
    """L12. All problems with their places, before a model is asked, and without a place of the run being taken."""

    async def work() -> None:
        with site(greeting(tmp_path), per_minute=1) as at:
            reply = await at.run({"times": 0, "extra": True})
            assert reply.status == 400
            found = {
                (each["pointer"], word)
                for each in reply.json["errors"]
                for word in ("name", "extra", "0")
                if word in each["message"]
            }
            assert found == {("", "name"), ("", "extra"), ("/times", "0")}
            assert str(tmp_path) not in reply.text
            assert (await at.run()).status == 200

    asyncio.run(work())


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        (JSON, b"{", 400),
        (JSON, b'{"name": "Ada", "name": "Eve"}', 400),
        (JSON, b"\xff", 400),
        (JSON, b'{"name": NaN}', 400),
        (JSON, b"[" * 5000, 400),
        (JSON, b'"' + b"x" * 1_048_576 + b'"', 413),
        ({**JSON, "content-length": "99999999"}, b"{}", 413),
        (FORM, b"name=Ada", 415),
        ({}, b'{"name": "Ada"}', 415),
        ({"content-type": "text/plain"}, b"{}", 415),
    ],
    ids=lambda each: str(each)[:30],
)
def test_x9_bodies_are_read_within_bounds(tmp_path: Path, headers: dict[str, str], body: bytes, status: int) -> None:
    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            reply = await at.call("POST", "/mdh/run/greet", {**BEARER, **headers}, body)
            assert reply.status == status
            assert at.runner.gate.inside == 0 and not at.runner.budget.ledger.spent

    asyncio.run(work())


def test_h19_the_same_key_gives_the_same_answer(tmp_path: Path) -> None:
    """H19. A request that is repeated runs once; another body under the key is refused; another key runs anew."""

    async def work() -> None:
        with site(greeting(tmp_path), per_minute=2) as at:
            first = await at.run(idempotency_key="k1")
            again = await at.run(idempotency_key="k1")
            assert (again.status, again.body) == (first.status, first.body) == (200, first.body)
            assert again.headers["idempotency-replayed"] == "true" and "idempotency-replayed" not in first.headers
            assert (await at.run({"name": "Eve"}, idempotency_key="k1")).status == 422
            assert (await at.run(idempotency_key="k2")).headers.get("idempotency-replayed") is None
            assert (await at.run(idempotency_key="k3")).status == 429
            assert (await at.run(idempotency_key="k1")).status == 200
            assert (await at.run(idempotency_key="x" * 256)).status == 400

    asyncio.run(work())


def test_h19_what_was_refused_before_it_began_may_be_tried_again(tmp_path: Path) -> None:
    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            assert (await at.run({}, idempotency_key="k")).status == 400
            assert (await at.run(idempotency_key="k")).status == 200

    asyncio.run(work())


def test_h19_a_failure_is_an_answer_too(tmp_path: Path) -> None:
    async def work() -> None:
        error = {"error": {"message": "no such model", "kind": "bad-request"}}
        with site(greeting(tmp_path), error) as at:
            first = await at.run(idempotency_key="k")
            assert (first.status, first.json["title"]) == (502, "Bad Gateway")
            assert (await at.run(idempotency_key="k")).headers["idempotency-replayed"] == "true"

    asyncio.run(work())


def test_h19_a_request_that_still_runs_is_not_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """H19. With a key the run goes on when its client goes away, and the same request is told to ask later."""

    async def work() -> None:
        slow = Slow()
        answered_by(monkeypatch, slow)
        with site(greeting(tmp_path)) as at:
            away = asyncio.Event()
            headers = {**BEARER, **JSON, "idempotency-key": "k"}
            calling = asyncio.create_task(at.call("POST", "/mdh/run/greet", headers, {"name": "Ada"}, leaves=away))
            await slow.asked_by(calling)
            assert (await at.run(idempotency_key="k")).status == 409
            away.set()
            assert (await calling).status == 499
            assert (slow.broken_off, at.runner.gate.inside) == (0, 1)
            await at.runner.aclose()
            assert (slow.broken_off, at.runner.gate.inside) == (1, 0)

    asyncio.run(work())


def test_x9_a_client_that_goes_away_ends_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        slow, away = Slow(), asyncio.Event()
        answered_by(monkeypatch, slow)
        with site(greeting(tmp_path)) as at:
            calling = asyncio.create_task(
                at.call("POST", "/mdh/run/greet", {**BEARER, **JSON}, {"name": "Ada"}, leaves=away)
            )
            await slow.asked_by(calling)
            away.set()
            assert (await calling).status == 499
            assert (slow.broken_off, at.runner.gate.inside) == (1, 0)

    asyncio.run(work())


def test_x9_so_many_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X9. A further run is told when to come again, and nothing of it is begun."""

    async def work() -> None:
        slow, away = Slow(), asyncio.Event()
        answered_by(monkeypatch, slow)
        with site(greeting(tmp_path), at_once=1) as at:
            calling = asyncio.create_task(
                at.call("POST", "/mdh/run/greet", {**BEARER, **JSON}, {"name": "Ada"}, leaves=away)
            )
            await slow.asked_by(calling)
            reply = await at.run()
            assert reply.status == 429 and int(reply.headers["retry-after"]) > 0
            away.set()
            await calling

    asyncio.run(work())


def test_x9_a_run_ends_with_its_wall_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        slow = Slow()
        answered_by(monkeypatch, slow)
        with site(greeting(tmp_path), wall_clock=0.05) as at:
            reply = await at.run()
            assert (reply.status, slow.broken_off) == (504, 1)
            assert "--timeout" not in reply.text

    asyncio.run(work())


@pytest.mark.parametrize(
    ("replies", "options", "status", "says"),
    [
        (({"error": {"message": "no key sk-1234", "kind": "auth"}},), {}, 502, ""),
        (({"error": {"message": "slow", "kind": "timeout"}},), {}, 504, "slow"),
        (({"refusal": "I will not."},), {}, 422, "I will not."),
        (({"content": "no JSON"},) * 10, {}, 422, "no valid output"),
        ((), {"agreed": False}, 503, "agreement"),
    ],
)
def test_l44_failures_are_problems(
    tmp_path: Path, replies: tuple[Any, ...], options: dict[str, Any], status: int, says: str
) -> None:
    """L44. A status, a sentence, no traceback, nothing of the machine."""

    async def work() -> None:
        with site(greeting(tmp_path), *replies, **options) as at:
            reply = await at.run()
            assert (reply.status, reply.headers["content-type"]) == (status, "application/problem+json")
            assert reply.json["status"] == status and says in reply.json["detail"]
            assert "Traceback" not in reply.text and str(tmp_path) not in reply.text
            assert at.runner.gate.inside == 0

    asyncio.run(work())


def test_l44_a_mistake_of_the_server_is_told_to_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        class Odd(Slow):
            async def complete(self, request: Any, on_text: Any = None) -> Any:
                raise KeyError("a detail of ours")

        answered_by(monkeypatch, Odd())
        with site(greeting(tmp_path)) as at:
            reply = await at.run()
            assert reply.status == 500 and "detail of ours" not in reply.text
            assert any("detail of ours" in each for each in at.said)

    asyncio.run(work())


def test_x5_imports_stay_inside_the_site(tmp_path: Path) -> None:
    """X5. A program that imports from outside the site is not run, and what lies there is not told."""
    (tmp_path / "outside.md").write_text((greeting(tmp_path) / "greet.md").read_text().replace("greet", "outside"))
    root = greeting(tmp_path, more="imports: [../outside.md]\n")

    async def work() -> None:
        with site(root) as at:
            reply = await at.run()
            assert reply.status == 500 and "outside" in reply.json["detail"]
            assert str(tmp_path) not in reply.text

    asyncio.run(work())


def test_x23_what_is_not_published_is_not_run(tmp_path: Path) -> None:
    """X23. Classified, hidden and outside: no program there, and none that a published one imports."""
    root = greeting(tmp_path, "secret.md", "classification: confidential\n")
    greeting(tmp_path, ".hidden/greet.md")
    greeting(tmp_path, "draft.md", "visibility: private\n")
    text = (root / "secret.md").read_text().replace("name: greet", "name: secret")
    (root / "secret.md").write_text(text)
    greeting(tmp_path, more="imports: [./secret.md]\n")

    async def work() -> None:
        with site(root) as at:
            for path in ("secret", "draft", ".hidden/greet", "../site/greet", "%2e%2e/site/greet", "none", ""):
                reply = await at.run(path=f"/mdh/run/{path}")
                assert reply.status == 404, path
            reply = await at.run()
            assert reply.status == 403 and "secret" in reply.json["detail"]
            assert at.runner.budget.ledger.spent == 0

    asyncio.run(work())


def test_x7_mcp_servers_of_a_program_need_a_permission_of_their_own(tmp_path: Path) -> None:
    """X7. The action is there; what it would start is refused, in the program and in what it imports."""
    started = tmp_path / "started"
    servers = f"mcp_servers: [{{name: s, command: touch, args: ['{started}']}}]\n"
    root = greeting(tmp_path, "inner.md", servers)
    (root / "inner.md").write_text((root / "inner.md").read_text().replace("name: greet", "name: inner"))
    greeting(tmp_path, more="imports: [./inner.md]\n")

    async def work() -> None:
        with site(root) as at:
            for path in ("inner", "greet"):
                assert (await at.call("GET", f"/{path}.json")).json["actions"]
                reply = await at.run(path=f"/mdh/run/{path}")
                assert reply.status == 403 and "--allow-servers" in reply.json["detail"]
        with site(root, reaching=True) as at:
            assert not started.exists()
            assert (await at.run(path="/mdh/run/inner")).status == 502
            assert started.exists()

    asyncio.run(work())


def test_x7_nothing_secret_is_logged_or_told(tmp_path: Path) -> None:
    """X7. The token is in no answer, no log line and no notice."""

    async def work() -> None:
        with site(greeting(tmp_path), {"error": {"message": "down", "kind": "server"}}) as at:
            await at.signed_in()
            replies = [await at.run(), await at.call("GET", f"/greet?token={TOKEN}", BEARER)]
            at.app.log.flush()  # type: ignore[union-attr]
            everything = "\n".join([*at.said, *at.logged, *(each.text for each in replies)])
            assert TOKEN not in everything and "/mdh/run/greet" in everything

    asyncio.run(work())


def test_h12_a_document_that_is_no_program_has_no_action(tmp_path: Path) -> None:
    root = greeting(tmp_path)
    (root / "plain.md").write_text("# Plain\n")

    async def work() -> None:
        with site(root) as at:
            assert (await at.run(path="/mdh/run/plain")).status == 404
            assert (await at.call("GET", "/mdh/schema/plain")).status == 404
            assert "actions" not in (await at.call("GET", "/plain.json")).json

    asyncio.run(work())
