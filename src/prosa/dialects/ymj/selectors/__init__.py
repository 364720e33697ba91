"""Selectors: how a record points at its payload (Y27). One table, one file per family; loaded when a record has one."""
