"""The formats that give a document meaning, one folder each, one table of them all."""
