"""Floor 11: a team: what a member shares, asks and takes back, and the server in `server`."""
