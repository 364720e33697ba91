"""MDH: the documents of a site that agents read by plain HTTP and whose actions they call.

`read` gives the model of one node; `url` and `address` say where a document lives in its site. Nothing here opens a
file or sends a request.
"""

from prosa.dialects.dialect import Dialect
from prosa.dialects.mdh.corpus import corpus_facts
from prosa.dialects.mdh.facts import facts
from prosa.dialects.mdh.fields import NODE as FRONT
from prosa.dialects.mdh.format import format_edits
from prosa.dialects.mdh.model import ActionModel, LinkModel, NodeModel
from prosa.dialects.mdh.read import read
from prosa.dialects.mdh.references import definitions, references
from prosa.dialects.mdh.url import md_url
from prosa.dialects.mdh.write import write

__all__ = [
    "DIALECT",
    "FRONT",
    "ActionModel",
    "LinkModel",
    "NodeModel",
    "corpus_facts",
    "definitions",
    "facts",
    "format_edits",
    "md_url",
    "read",
    "references",
    "write",
]

DIALECT: Dialect[NodeModel] = Dialect(
    name="mdh",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=FRONT,
    corpus_facts=corpus_facts,
    format_edits=format_edits,
)
