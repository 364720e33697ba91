"""Context files: what hosts such as Claude Code or Cursor read beside a skill, and what each of them makes of it (X38).

`places.py` recognises them by path, `hosts.py` is the table of hosts, `fields.py` has their front matter,
`as_dialect.py` the dialect.
"""
