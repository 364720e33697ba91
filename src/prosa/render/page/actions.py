"""The actions of a node as forms (H11–H16). In: a page. Out: plain values for the template and for `actions.js`.

The request is that of `prosa.site.request`. A form never leaves the site: an action that would, or whose contract is
broken, is shown with the reason. An action with side effects is never a working form by default: without JavaScript
there are only the commands to type.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urljoin, urlsplit

from prosa.data import Value
from prosa.render.json import dump
from prosa.render.page.action_fields import Field, fields_of, sample
from prosa.render.page.model import Page
from prosa.site.contract import DEFAULT_KEY_NAME, Contract, read_contract
from prosa.site.problems import RequestError
from prosa.source.url import ESCAPED_SAFE, requoted_path

MAX_ACTIONS = 50
_NOWHERE = "https://site.invalid"
_SITE = "https://SITE"


def action_parts(page: Page) -> list[dict[str, Value]]:
    """Return the actions, in order."""
    return [_part(page, action, number) for number, action in enumerate(page.view.actions[:MAX_ACTIONS], 1)]


def _part(page: Page, action: Mapping[str, Value], number: int) -> dict[str, Value]:
    name = _text(action.get("id"))
    shown = {
        "key": f"action:{number}",
        "name": name,
        "title": _text(action.get("title")) or name or "Action",
        "method": _text(action.get("method")).upper(),
        "url": _text(action.get("url")),
        "about": _text(action.get("description")) or _text(action.get("summary")),
        "problem": "",
        "form": False,
    }
    try:
        contract = read_contract(action)
        where, pairs = _place(page, contract)
    except (RequestError, ValueError) as error:
        return {**shown, "problem": str(error)}
    return {**shown, **_form(page, contract, where, pairs, _example(action), number)}


def _place(page: Page, contract: Contract) -> tuple[str, list[tuple[str, str]]]:
    """Return the path of the action with its `{names}`, and the pairs of its own query. Raises `ValueError`."""
    origin = page.frame.origin or _NOWHERE
    where, _, query = contract.url.partition("?")
    found = urlsplit(urljoin(f"{origin}{page.frame.prefix}/", where))
    root = urlsplit(origin)
    if (found.scheme, found.netloc) != (root.scheme, root.netloc):
        raise ValueError("its URL leads to another origin than this site; such an action is not called")
    if found.path.startswith("//"):
        raise ValueError("its URL begins with two slashes, which a browser takes for another host")
    return quote(found.path or "/", safe=f"{ESCAPED_SAFE}{{}}"), parse_qsl(query, keep_blank_values=True)


def _form(
    page: Page, contract: Contract, where: str, pairs: list[tuple[str, str]], example: Mapping[str, Value], number: int
) -> dict[str, Value]:
    auth, declared = contract.auth, set(contract.parameters)
    pairs = [pair for pair in pairs if pair[0] not in declared]
    plain = not contract.changes_state and not contract.path_names and not any("{" in value for _, value in pairs)
    fields = _with_later(fields_of(contract, example, f"action:{number}"), plain=plain)
    own = page.frame.signed_in and _is_program(page, where)
    return {
        "method": contract.method,
        "form": page.frame.live,
        "where": where,
        "pairs": pairs,
        "plain": plain,
        "changes": contract.changes_state,
        "fields": fields,
        "later": any(each["later"] for each in fields),
        "media_type": contract.media_type if contract.changes_state else "",
        "accept": contract.accept.strip(),
        "auth": auth.type,
        "auth_place": "cookie" if auth.type == "cookie" else auth.place if auth.type == "api_key" else "header",
        "auth_name": (auth.name or DEFAULT_KEY_NAME[auth.place]) if auth.type == "api_key" else "Authorization",
        "wants_token": auth.wants_token and auth.type != "cookie" and not own,
        "csrf": page.frame.csrf if own else "",
        "help": auth.token_help,
        "call": _call(page, contract),
        "curl": _curl(page, contract, where),
    }


def _with_later(fields: list[Field], *, plain: bool) -> list[Field]:
    """Mark the fields that need the script. Without it, a browser sends empty fields too, which the site may refuse;
    so a form that works without the script only has the required fields, if there are any."""
    waiting = plain and any(each["required"] for each in fields)
    return [{**each, "later": waiting and not each["required"]} for each in fields]


def _is_program(page: Page, where: str) -> bool:
    """Return whether the action is the site's own for this program: only then a reader's session goes with the
    request."""
    return page.view.dialect == "markdownlang" and where == requoted_path(f"{page.frame.prefix}/mdh/run{page.view.url}")


def _example(action: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the request of the first example, `{query, path, body}`."""
    examples = action.get("examples")
    first = examples[0] if isinstance(examples, list | tuple) and examples else None
    request = first.get("request", first) if isinstance(first, Mapping) else None
    return request if isinstance(request, Mapping) else {}


def _call(page: Page, contract: Contract) -> str:
    """Return the line for a shell, with capitals where a value belongs."""
    node = f"{page.frame.origin or _SITE}{page.frame.prefix}{page.view.url}"
    names = (*contract.path_names, *contract.required)
    words = ["prosa", "call", node, contract.id, *(f"{name}={name.upper()}" for name in names)]
    if contract.changes_state and contract.media_type:
        words += ["--input", dump({"body": sample(contract.body_schema)})]
    if contract.auth.wants_token:
        words += ["--token-env", "TOKEN"]
    return shlex.join(words)


def _curl(page: Page, contract: Contract, where: str) -> str:
    words = ["curl", "-X", contract.method, f"{page.frame.origin or _SITE}{where}"]
    if contract.accept.strip():
        words += ["-H", f"Accept: {contract.accept.strip()}"]
    if contract.media_type:
        words += ["-H", f"Content-Type: {contract.media_type}", "--data", dump(sample(contract.body_schema))]
    if contract.auth.type == "api_key" and contract.auth.place == "header":
        words += ["-H", f"{contract.auth.name or DEFAULT_KEY_NAME['header']}: TOKEN"]
    elif contract.auth.type in ("bearer", "oauth2"):
        words += ["-H", "Authorization: Bearer TOKEN"]
    return shlex.join(words)


def _text(value: Value) -> str:
    return value if isinstance(value, str) else "" if value is None else dump(value)
