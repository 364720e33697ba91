"""MDH as logic: what the client of a site asks for, and how it goes from page to page. Pure: nothing is sent here."""
