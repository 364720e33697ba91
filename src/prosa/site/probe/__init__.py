"""The conformance test for MDH sites (H21): evidence in, findings and a score out. Pure: who asks is outside.

`evidence` is what was seen, `crawl` decides what is asked for, `checks` is the table, `report` judges.
"""
