"""Floor 10: the server of a team, which keeps what members share in PostgreSQL, and searches it."""
