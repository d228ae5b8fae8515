"""Past sessions of a project, and prompts of later ones, each with what must reach it."""

import json
from pathlib import Path

SESSIONS = {
    "2026-03-02": [
        ("user", "the stripe webhook signature check fails in staging, can you look"),
        (
            "assistant",
            "The handler parses the body before it is verified. I would verify the raw bytes.",
        ),
        (
            "user",
            "it does that already. the env is the thing: staging has the signing secret of production",
        ),
        (
            "assistant",
            "You are right. It is what `stripe listen --print-secret` says now, in `deploy/staging.env`.",
        ),
        ("user", "yep, green. commit"),
    ],
    "2026-03-09": [
        ("user", "the public search endpoint needs a rate limit, what would you take"),
        ("assistant", "I would allow 100 requests per minute and key, with a burst of 20."),
        ("user", "make it 60, no burst"),
        ("assistant", "`SEARCH_RATE = 60` per minute, no burst, in `api/limits.py`."),
    ],
    "2026-03-11": [
        (
            "user",
            "remember that staging is hosted on the hetzner box in falkenstein, not on fly anymore",
        ),
        ("assistant", "Noted."),
    ],
    "2026-03-15": [
        ("user", "why does the nightly export of invoices stop halfway"),
        ("assistant", "The cursor is closed by the commit after 500 rows."),
        ("user", "then what"),
        ("assistant", "I opened it WITH HOLD; the export of 12,400 invoices ran through."),
    ],
}
ANSWERS = {
    "the stripe webhook signature check fails in staging again": ["stripe listen --print-secret"],
    "document the rate limit of the public search endpoint": ["make it 60", "SEARCH_RATE = 60"],
    "where is staging hosted?": ["hetzner box in falkenstein"],
    "why does the nightly export of invoices stop halfway": ["WITH HOLD"],
}


def write(home: Path, repo: Path) -> None:
    """Write the sessions where Claude Code keeps its own."""
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(repo))
    folder = home / ".claude/projects" / slug
    folder.mkdir(parents=True)
    for number, (day, said) in enumerate(SESSIONS.items()):
        lines = [
            {
                "type": role,
                "message": {"role": role, "content": text},
                "sessionId": f"past-{number}",
                "cwd": str(repo),
                "timestamp": f"{day}T10:00:{at:02}Z",
                "uuid": f"past-{number}-{at}",
            }
            for at, (role, text) in enumerate(said)
        ]
        path = folder / f"past-{number}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
