"""Floor 4: the client of the service: its protocol, the connection, starting it. Hot path."""
