"""The conformance test for MDH sites (H21): evidence in, findings and a score out. Pure: requests are made outside.

`evidence` holds the observations, `crawl` decides what to request, `checks` is the table, `report` judges.
"""
