"""Where the configuration of a chat comes from, and which file wins (PA9, PW6, X7)."""

from __future__ import annotations

import pytest

from prosa.runtime.errors import ProgramRefused
from prosa.source import FileProblem
from tests.app.chat.chats import ready, sent

ASK = "### @user:\n\nHi.\n"


def lay(folder, **texts):
    """The files of a tree; `/` in a name is written `__`."""
    for name, text in texts.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / ".prapticonfig.md" if path.name == "tree" else path.with_suffix(".md")).write_text(text)


def values(conversation):
    return {path.removeprefix("vars."): each.value for path, each in conversation.values.items()}


def test_pa9_the_user_then_the_tree_from_root_to_leaf_then_named_files_then_the_document(tmp_path):
    """PA9."""
    lay(
        tmp_path,
        config__chat="% a = 1\n% b = 1\n% c = 1\n% d = 1\n% e = 1\n",
        tree="% b = 2\n% c = 2\n% d = 2\n% e = 2\n",
        sub__tree="% c = 3\n% d = 3\n% e = 3\n",
        named="% d = 4\n% e = 4\n",
    )
    conversation = ready(tmp_path, f"% e = 5\n\n{ASK}", name="sub/chat.md", config_files=(tmp_path / "named.md",))
    assert values(conversation) == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}


def test_pa9_variables_are_looked_up_late_across_layers(tmp_path):
    """PA9."""
    lay(tmp_path, tree='% model = var(size)\n% size = "small"\n')
    assert ready(tmp_path, f'% size = "big"\n\n{ASK}').model_name == "big"


def test_config_root_ends_the_way_up_and_the_root_of_the_project_does_too(tmp_path):
    lay(tmp_path, tree="% a = 1\n", sub__tree="% config_root = true\n% b = 2\n", sub__deep__tree="% c = 3\n")
    assert values(ready(tmp_path, ASK, name="sub/deep/chat.md")) == {"prapti.config_root": True, "b": 2, "c": 3}
    project = tmp_path / "project"
    lay(project, tree="% d = 4\n")
    assert values(ready(project, ASK)) == {"d": 4}


def test_messages_of_configuration_files_stand_in_front(tmp_path):
    lay(
        tmp_path,
        config__chat="### @system:\n\nUser.\n",
        tree="Not this.\n\n### @system:\n\nTree.\n% include note.txt\n\n### @_x:\n\nHidden.\n",
    )
    (tmp_path / "note.txt").write_text("Note.")
    assert sent(ready(tmp_path, ASK)) == [
        ("system", None, "User.\n\nTree.\nNote."),
        ("user", None, "Hi."),
    ]


def test_messages_of_configuration_files_are_never_what_is_answered(tmp_path):
    lay(tmp_path, tree="### @user:\n\nAnswer me.\n")
    assert ready(tmp_path, "Nothing yet.\n").turns == ()


def test_without_default_configuration_only_named_files_count(tmp_path):
    lay(tmp_path, config__chat="% a = 1\n", tree="% b = 2\n", named="% c = 3\n")
    conversation = ready(tmp_path, ASK, default_config=False, config_files=(tmp_path / "named.md",))
    assert values(conversation) == {"c": 3}


def test_pw6_a_named_file_that_is_missing_is_an_error(tmp_path):
    """PW6."""
    with pytest.raises(FileProblem, match="no such file"):
        ready(tmp_path, ASK, config_files=(tmp_path / "gone.md",))


def test_pw6_an_error_in_a_configuration_file_stops_with_its_place(tmp_path):
    """PW6."""
    lay(tmp_path, tree="% a = 1\n% temperature = hot\n")
    with pytest.raises(ProgramRefused, match=r"\.prapticonfig\.md:2"):
        ready(tmp_path, ASK)


def test_a_line_with_an_exclamation_mark_has_no_effect_in_a_configuration_file(tmp_path):
    lay(tmp_path, tree="%! temperature = 1\n")
    assert ready(tmp_path, ASK).parameters == {}


def test_x7_trust_in_a_chat_is_no_trust_in_the_tree(tmp_path):
    """X7."""
    lay(tmp_path, tree='% tools = ["python"]\n% more = ["python"]\n')
    assert not ready(tmp_path, ASK, trusted=True).tools.python
    assert not ready(tmp_path, f"% tools = var(more)\n\n{ASK}", trusted=True).tools.python
    assert ready(tmp_path, f'% tools = ["python"]\n\n{ASK}', trusted=True).tools.python


def test_a_broken_link_to_a_tree_file_is_no_configuration(tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("% a = 1\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / ".prapticonfig.md").symlink_to(outside)
    with pytest.raises(FileProblem, match="outside the root"):
        ready(project, ASK)


def test_pa8_pa9_a_name_that_is_almost_a_well_known_one_is_told_with_the_nearest(tmp_path):
    """PA8, PA9. In the tree too; a variable that is used is meant."""
    (tmp_path / ".prapticonfig.md").write_text("% temprature = 0.2\n")
    text = "% max_token = 3\n% modell = 1\n% mine = 4\n% seed = var(modell)\n\n### @user:\n\nHi.\n"
    found = ready(tmp_path, text).diagnostics
    assert [(each.message, each.severity, each.notes) for each in found] == [
        ("there is no setting `temprature`", "warning", ("did you mean `temperature`?",)),
        ("there is no setting `max_token`", "warning", ("did you mean `max_tokens`?",)),
    ]
