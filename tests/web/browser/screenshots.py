"""Pictures of every page for the documentation: `python -m tests.web.browser.screenshots docs/page`.

They are of a made-up project in a temporary folder, with a home of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.web.browser.conftest import CHROMIUM

PAGES = {
    "home": "home",
    "attention": "attention",
    "blocks": "blocks",
    "block": "blocks/system_rules",
    "change": "blocks/system_rules/history",
    "brief": "brief",
    "prompts": "prompts",
    "search": "search?q=how+long+do+we+wait+between+attempts",
    "sessions": "sessions",
    "session": "sessions/claude/checkout-2",
    "archive": "archive",
    "facts": "facts",
    "sources": "sources/docs",
    "timeline": "timeline",
    "health": "health",
}
# No folder of the machine that took the picture is in it.
_RENAME = """(names) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let each = texts.nextNode(); each; each = texts.nextNode())
    for (const [from, to] of names) each.data = each.data.replaceAll(from, to);
}"""
_WIDTH, _HEIGHT = 1200, 780
_DOCUMENT = "# Payments\n\n## Retries\n\nA payment is retried three times, with one key.\n"
_TALKS = (
    ("checkout-1", "2026-09-14", "Make the client wait as the gateway says",
     "Done: the client honours Retry-After, and waits at least that long. The tests pass."),
    ("checkout-2", "2026-10-02", "Why do the order lists take more than a second?",
     "The orders table has no index on customer_id. I added one; the list now takes 40 ms."),
    ("checkout-3", "2026-11-03", "From now on, never retry a payment without an idempotency key.",
     "Understood. I added the key to every retry of a payment, and a test that fails without it."),
    ("checkout-4", "2026-11-10",
     "Always run the linter before a commit. We decided to keep Postgres. I prefer pnpm over npm.",
     "Noted: the linter runs first, and the orders stay in Postgres."),
)  # fmt: skip


def make_project(folder: Path) -> tuple[Path, dict[str, str]]:
    """Make a project with a memory that was used for some weeks; return it, and its environment."""
    home, project = folder / "home", folder / "shop"
    home.mkdir()
    project.mkdir()
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "MEMFS_SERVICE_MODE": "off",
           "GIT_CONFIG_GLOBAL": os.devnull}  # fmt: skip
    subprocess.run(["git", "init", "-q", "-b", "main", str(project)], check=True, env=env)
    _run(project, env, "init")
    for name, day, asked, answered in _TALKS:
        _write_session(folder / f"{name}.jsonl", project, name, day, (asked, answered))
        _run(project, env, "ingest", str(folder / f"{name}.jsonl"))
    for words in (
        ("edit", "human", "--append", "Name: Ana. Prefers short answers with the command to run."),
        ("edit", "system_rules", "--append", "HTTP timeouts are 5 seconds."),
        ("edit", "system_rules", "--append", "Payments are retried only with an idempotency key."),
        ("edit", "system_rules", "--replace", "5 seconds", "10 seconds"),
        ("create", "api/retries", "Wait Retry-After; then 1 s, 2 s, 4 s, with jitter.",
         "--description", "How the client retries"),
        ("archive", "add", "The payments sandbox resets every night at 02:00 UTC.", "-t", "payments"),
    ):  # fmt: skip
        _run(project, env, *words)
    _run(project, env, "facts", "extract")
    (project / "docs").mkdir()
    (project / "docs/payments.md").write_text(_DOCUMENT, encoding="utf-8")
    (project / "docs/logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    _run(project, env, "source", "add", "docs", "docs")
    for event, more in (
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "why was the order list so slow, and what did we do?"}),
    ):
        record = {"session_id": "now", "cwd": str(project), "hook_event_name": event, **more}
        _run(project, env, "hook", "claude", stdin=json.dumps(record))
    return project, env


def _write_session(path: Path, project: Path, name: str, day: str, texts: Sequence[str]) -> None:
    lines = []
    for place, text in enumerate(texts):
        role = "assistant" if place % 2 else "user"
        content = [{"type": "text", "text": text}] if role == "assistant" else text
        line = {"type": role, "uuid": f"{name}-{place}", "sessionId": name, "cwd": str(project),
                "timestamp": f"{day}T10:0{place}:00.000Z",
                "message": {"role": role, "content": content}}  # fmt: skip
        lines.append(json.dumps(line, separators=(",", ":")))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _run(project: Path, env: dict[str, str], *words: str, stdin: str = "") -> None:
    command = [sys.executable, "-m", "memfs", *words]
    subprocess.run(
        command, check=True, cwd=project, env=env, input=stdin, text=True, capture_output=True
    )


def take_pictures(target: Path) -> None:
    """Write a picture of each page, light and dark, into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="memfs-page-") as folder, sync_playwright() as started:
        project, env = make_project(Path(folder))
        command = [sys.executable, "-m", "memfs", "web", "--no-open"]
        with subprocess.Popen(
            command, cwd=project, env=env, stdout=subprocess.PIPE, text=True
        ) as served:
            assert served.stdout
            _, opener = (served.stdout.readline().strip() for _ in range(2))
            browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            window = browser.new_context(viewport={"width": _WIDTH, "height": _HEIGHT})
            page = window.new_page()
            page.goto(opener)
            page.wait_for_url("**/home")
            base = page.url.rpartition("/")[0]
            for name, path in PAGES.items():
                for theme in ("light", "dark"):
                    page.emulate_media(color_scheme=theme)
                    page.goto(f"{base}/{path}")
                    page.evaluate(_RENAME, [[folder, "/home/ana"], [sys.prefix, "/opt/memfs"]])
                    page.screenshot(path=target / f"{name}-{theme}.png")
            browser.close()
            served.terminate()


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]))
