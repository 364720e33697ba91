"""The fields of a node, its links and its actions, as tables (H9–H15, HA9, HA11, HA15, HA17).

`href` of a link, `action`, `description`, `csrf`, `query.properties`, `auth.in`, `auth.name` and `auth.token_url` are
extensions that are accepted; every other unknown field is ignored, with information (HA11).
"""

from __future__ import annotations

from prosa.dialects.fields import Field
from prosa.dialects.mdh import forms

_MUST_2 = "(MDH conformance, MUST 2)"
_MUST_4 = "(MDH conformance, MUST 4)"

NODE: tuple[Field, ...] = (
    Field("id", "string", required=True, wanted=f"a stable id, unique in its site {_MUST_2}"),
    Field("type", "string", required=True, wanted=f"a word of its site for what it is, `page` for example {_MUST_2}"),
    Field("title", "string", required=True, wanted=f"a title for people {_MUST_2}"),
    Field("aliases", "strings"),
    Field("tags", "strings"),
    Field("links", "mappings"),
    Field("actions", "mappings"),
    Field("action", "anything"),
    Field("summary", "string"),
    Field("updated", "string", form=forms.updated_form),
    Field("canonical_url", "string", form=forms.url_form),
)

LINK: tuple[Field, ...] = (
    Field("rel", "string", required=True, wanted="a word for the relation, `related_to` for example"),
    Field("target", "string", required=True, wanted="the id of a node, or `url:` and a URL", form=forms.target_form),
    Field("href", "string", form=forms.url_form),
)

LINK_WITH_HREF: tuple[Field, ...] = (LINK[0], Field("target", "string", form=forms.target_form), LINK[2])
"""With `href` a link may do without `target` (HA9)."""

ACTION: tuple[Field, ...] = (
    Field("id", "string", required=True, wanted=f"an id, unique in its site {_MUST_4}"),
    Field("title", "string"),
    Field("description", "string"),
    Field("method", "string", required=True, wanted=f"GET, POST, PUT, PATCH or DELETE {_MUST_4}"),
    Field(
        "url",
        "string",
        required=True,
        wanted=f"a path from the root of the site {_MUST_4}",
        form=forms.action_url_form,
    ),
    Field("accept", "string", form=forms.accept_form),
    Field("content_type", "string", form=forms.content_type_form),
    Field("auth", "mapping"),
    Field("csrf", "anything"),
    Field("query", "mapping"),
    Field("body_schema", "anything"),
    Field("response_schema", "string", form=forms.url_form),
    Field("pagination", "mapping"),
    Field("examples", "mappings"),
)

AUTH: tuple[Field, ...] = (
    Field("type", "string", required=True, choices=("none", "bearer", "api_key", "cookie", "oauth2")),
    Field("token_help", "string"),
    Field("in", "string", choices=("header", "query")),
    Field("name", "string", form=forms.header_name_form),
    Field("token_url", "string", form=forms.url_form),
    Field("csrf", "anything"),
)

QUERY: tuple[Field, ...] = (
    Field("required", "strings", form=forms.not_empty),
    Field("optional", "strings", form=forms.not_empty),
    Field("properties", "mapping"),
)

PAGINATION: tuple[Field, ...] = (
    Field("type", "string"),
    Field("request", "mapping"),
    Field("response", "mapping"),
)

REQUEST: tuple[Field, ...] = (
    Field("cursor_param", "string", form=forms.not_empty),
    Field("limit_param", "string", form=forms.not_empty),
)

RESPONSE: tuple[Field, ...] = (
    Field("next_cursor_jsonpath", "string"),
    Field("prev_cursor_jsonpath", "string"),
    Field("next_link_jsonpath", "string"),
    Field("self_link_jsonpath", "string"),
)
