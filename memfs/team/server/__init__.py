"""The server of a team, with a PostgreSQL of its own."""
