"""One module for each section of the page: its addresses, and what their templates are given."""
