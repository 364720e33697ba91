"""`prosa.mdh`: the request of an action from Python."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import prosa
from prosa.dialects.mdh.facts import action_value
from tests.dialects.mdh.documents import model_of, node
from tests.site.actions import BOOK, ROOT, SAILINGS


def test_h14_the_request_is_plain_data_with_the_keys_of_the_interface():
    """H14: as `prosa call --dry-run` prints it, with the token as it is sent."""
    found = prosa.mdh.request(BOOK, {"path": {"sailing": 7}, "body": {"name": "Ada"}}, site_root=ROOT, token="t0")
    assert list(found) == ["method", "url", "query", "headers", "body"]
    assert found["headers"]["Authorization"] == "Bearer t0"
    assert json.loads(json.dumps(found)) == found


def test_a_refusal_has_every_problem():
    with pytest.raises(prosa.mdh.RequestError) as caught:
        prosa.mdh.request(SAILINGS, {"query": {"harbuor": "x"}}, site_root=ROOT)
    assert [(each.where, each.name) for each in caught.value.problems] == [("query", "harbuor"), ("query", "harbour")]
    assert isinstance(caught.value, ValueError)


def test_an_action_may_come_from_a_model_or_from_a_loaded_document():
    text = node("actions:\n  - {id: go, method: get, url: '/x/{n}', auth: {type: none}}\n")
    model = model_of(text).actions[0]
    expected = prosa.mdh.request(action_value(model), {"path": {"n": 1}}, site_root=ROOT)
    assert prosa.mdh.request(model, {"path": {"n": 1}}, site_root=ROOT) == expected
    front = prosa.load(text).front_matter
    assert front and prosa.mdh.request(front["actions"][0], {"path": {"n": 1}}, site_root=ROOT) == expected


def test_the_module_loads_on_first_use_and_reaches_no_network_library():
    unloaded = "assert not {'httpx2', 'openai', 'asyncio', 'prosa.api.run'} & set(sys.modules)"
    code = f"import sys, prosa; assert 'prosa.mdh' not in sys.modules; prosa.mdh; {unloaded}"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
