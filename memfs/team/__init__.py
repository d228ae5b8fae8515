"""Floor 11: a team: what a member shares, asks and takes back, and the server in `server`."""

FOLDER = "team"  # below the user's local folder, once a project has joined a team
