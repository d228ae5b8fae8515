"""The server of a team: PostgreSQL, and index folders beside it."""
