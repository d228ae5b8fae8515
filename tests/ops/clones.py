"""A repository, the clone of somebody else, and what comes from there."""

import subprocess
from pathlib import Path

from memfs.core.events import START, Event, Reply
from memfs.ops import brief
from memfs.store.blocks import Place

BOB = {"name": "Bob", "email": "bob@example.invalid"}
ME = {"name": "Tester", "email": "tester@example.invalid"}


def git(folder: Path, *words: str, who: dict[str, str] = ME, at: str = "") -> str:
    told = ["-c", f"user.name={who['name']}", "-c", f"user.email={who['email']}"]
    environment = {"GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    environment |= {f"GIT_{role}_DATE": at for role in ("AUTHOR", "COMMITTER") if at}
    done = subprocess.run(
        ["git", "-C", str(folder), *told, *words], check=True, capture_output=True, env=environment
    )
    return done.stdout.decode()


def commit(folder: Path, subject: str = "memory", *words: str) -> str:
    """Commit all files; return the commit."""
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", subject, *words)
    return git(folder, "rev-parse", "HEAD").strip()


def tell(folder: Path, kind: str = START, session: str = "s1") -> Reply:
    return brief.run(Event("claude", kind, "X", session, str(folder), "", "startup", "go on"))


def committed(place: Place, repo: Path) -> None:
    for key in ("name", "email"):
        git(repo, "config", f"user.{key}", ME[key])
    commit(repo, "store")


def by_bob(clone: Path, repo: Path, label: str, text: str, subject: str = "tighten") -> None:
    """Let Bob append to a block in his clone, and pull that."""
    path = clone / ".agent-memory" / "blocks" / f"{label}.md"
    path.write_text((path.read_text() if path.exists() else "") + text)
    git(clone, "add", "-A", who=BOB)
    git(clone, "commit", "-qm", subject, who=BOB)
    git(repo, "pull", "-q", "--no-edit", str(clone), "HEAD")
