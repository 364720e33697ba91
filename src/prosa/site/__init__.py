"""MDH as logic: the requests of a client of a site, and its path from page to page. Pure: nothing is sent here."""
