"""What an administrator does with members, tokens, projects and what is kept, in the database."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from psycopg import errors

from memfs.core.errors import NotFoundError, UsageError
from memfs.ipc.team_protocol import PREFIX, hash_origin
from memfs.team import database, schema_setup
from memfs.team.schema_setup import Admin

SCOPES = ("search", "push", "metrics")
ROLES = ("reader", "writer")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")
_MOST_DAYS = 3650


@dataclass(frozen=True)
class ListedMember:
    """A member: `tokens` are valid, `expires` is when the last of them does, `projects` by role."""

    login: str
    tokens: int
    expires: str
    revoked: bool
    projects: dict[str, str]


@dataclass(frozen=True)
class ListedProject:
    """A project: `messages` are those that are kept."""

    name: str
    members: int
    messages: int
    retention: int


@contextmanager
def open_administration(address: str) -> Iterator[Admin]:
    """Yield a connection that acts as the owner; what is done counts at the end, or not at all."""
    with database.connect(address) as admin, database.convert_errors():
        schema_setup.become_owner(admin)
        yield admin


def hash_token(token: str) -> bytes:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def add_member(
    admin: Admin, login: str, days: int, scopes: tuple[str, ...] = ("search", "push")
) -> str:
    """Add a member, and return the first token. Raises `UsageError` for one that is there."""
    if not _LOGIN.fullmatch(login):
        raise UsageError(f"{login!r} is no login", "use letters, digits and . _ @ -")
    try:
        with admin.transaction():
            database.fetch(admin, "INSERT INTO member (login) VALUES (%s)", (login,))
    except errors.UniqueViolation:
        raise UsageError(
            f"{login} is a member already", f"memfs team member token {login} gives another token"
        ) from None
    _note(admin, f"add member {login}")
    return add_token(admin, login, days, scopes)


def add_token(
    admin: Admin, login: str, days: int, scopes: tuple[str, ...] = ("search", "push")
) -> str:
    """Return a new token of a member, valid for so many days. Raises `MemfsError`."""
    if not 1 <= days <= _MOST_DAYS:
        raise UsageError(f"days is {days}, expected 1 to {_MOST_DAYS:,}")
    token = PREFIX + secrets.token_urlsafe(32)
    done = database.fetch(
        admin,
        "INSERT INTO token (hash, member, scopes, expires_at)"
        " SELECT %s, id, %s, now() + make_interval(days => %s) FROM member"
        " WHERE login = %s AND revoked_at IS NULL RETURNING 1",
        (hash_token(token), list(scopes), days, login),
    )
    if not done:
        raise NotFoundError(f"there is no member {login}", "memfs team member list shows them")
    _note(admin, f"add token of {login}")
    return token


def revoke_member(admin: Admin, login: str, *, purge: bool = False) -> int:
    """Revoke a member and all tokens at once; `purge` removes what it shared, and counts that."""
    found = database.fetch(
        admin, "UPDATE member SET revoked_at = now() WHERE login = %s RETURNING id", (login,)
    )
    if not found:
        raise NotFoundError(f"there is no member {login}", "memfs team member list shows them")
    member = int(str(found[0][0]))
    admin.execute("UPDATE token SET revoked_at = now() WHERE member = %s", (member,))
    admin.execute("DELETE FROM access WHERE member = %s", (member,))
    _note(admin, f"revoke member {login}")
    if not purge:
        return 0
    rows = database.fetch(admin, "SELECT messages FROM purge_member(%s, 0)", (member,))
    return int(str(rows[0][0]))


def list_members(admin: Admin) -> list[ListedMember]:
    """Return all members by their logins."""
    rows = database.fetch(
        admin,
        "SELECT m.login, m.revoked_at IS NOT NULL,"
        " (SELECT count(*) FROM token t WHERE t.member = m.id AND t.revoked_at IS NULL"
        "  AND t.expires_at > now()),"
        " (SELECT max(t.expires_at) FROM token t WHERE t.member = m.id AND t.revoked_at IS NULL),"
        " (SELECT coalesce(jsonb_object_agg(p.name, a.role), '{}') FROM access a"
        "  JOIN project p ON p.id = a.project WHERE a.member = m.id)"
        " FROM member m ORDER BY m.login",
        (),
    )
    return [
        ListedMember(str(login), int(str(tokens)), format_time(expires), bool(revoked), projects)
        for login, revoked, tokens, expires, projects in rows
        if isinstance(projects, dict)
    ]


def add_project(
    admin: Admin, name: str, origins: tuple[str, ...] = (), retention: int | None = None
) -> None:
    """Add a project; `origins` are addresses of its repository, of which hashes are kept."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a project", "use one line of visible characters")
    try:
        with admin.transaction():
            database.fetch(
                admin,
                "INSERT INTO project (name, origins, retention_days) VALUES (%s, %s, %s)",
                (name, sorted(filter(None, map(hash_origin, origins))), retention),
            )
    except errors.UniqueViolation:
        raise UsageError(f"there is a project {name} already", "choose another name") from None
    except errors.CheckViolation:
        raise UsageError(f"retention is {retention} days, expected 1 or more") from None
    _note(admin, "add project", name)


def grant_access(admin: Admin, name: str, login: str, role: str) -> None:
    """Give a member a role in a project, or none with the role "none"."""
    _find_project(admin, name)
    if role == "none":
        statement = (
            "DELETE FROM access USING member m, project p WHERE access.member = m.id"
            " AND access.project = p.id AND m.login = %s AND p.name = %s RETURNING 1"
        )
        done = database.fetch(admin, statement, (login, name))
    elif role in ROLES:
        done = database.fetch(
            admin,
            "INSERT INTO access (member, project, role) SELECT m.id, p.id, %s"
            " FROM member m, project p WHERE m.login = %s AND m.revoked_at IS NULL AND p.name = %s"
            " ON CONFLICT (member, project) DO UPDATE SET role = excluded.role RETURNING 1",
            (role, login, name),
        )
    else:
        raise UsageError(f"role is {role!r}, expected reader, writer or none")
    if not done:
        raise NotFoundError(f"there is no member {login}", "memfs team member list shows them")
    _note(admin, f"grant {role} to {login}", name)


def remove_project(admin: Admin, name: str) -> int:
    """Remove a project with all that was shared for it; return how many messages that were."""
    project = _find_project(admin, name)
    rows = database.fetch(admin, "SELECT drop_project(%s)", (project,))
    _note(admin, "remove project", name)
    return int(str(rows[0][0]))


def list_projects(admin: Admin) -> list[ListedProject]:
    """Return all projects by their names."""
    rows = database.fetch(
        admin,
        "SELECT p.name, (SELECT count(*) FROM access a WHERE a.project = p.id),"
        " (SELECT coalesce(sum(c.many), 0) FROM change c WHERE c.project = p.id),"
        " coalesce(p.retention_days, 0) FROM project p ORDER BY p.name",
        (),
    )
    return [
        ListedProject(str(name), int(str(members)), int(str(messages)), int(str(days)))
        for name, members, messages, days in rows
    ]


def prune(admin: Admin) -> int:
    """Remove what is older than the projects keep it; return how many messages that were."""

    def remove() -> list[tuple[object, ...]]:
        with admin.transaction():
            return admin.execute("SELECT prune()").fetchall()

    rows = database.retry_conflicts(remove)  # it takes locks that pushes and searches want
    _note(admin, "prune")
    return int(str(rows[0][0]))


def list_audit(admin: Admin, count: int) -> list[tuple[str, str, str, str, int]]:
    """Return (when, who, what, project, how many) of the last actions, the latest first."""
    rows = database.fetch(
        admin,
        "SELECT at, member, action, project, count FROM audit ORDER BY at DESC LIMIT %s",
        (count,),
    )
    return [
        (format_time(at), str(who), str(what), str(project), int(str(many)))
        for at, who, what, project, many in rows
    ]


def format_time(at: object) -> str:
    """Return a time of the database in ISO 8601, "" for none."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(at, datetime) else ""


def _find_project(admin: Admin, name: str) -> int:
    rows = database.fetch(admin, "SELECT id FROM project WHERE name = %s", (name,))
    if not rows:
        raise NotFoundError(f"there is no project {name}", "memfs team project list shows them")
    return int(str(rows[0][0]))


def _note(admin: Admin, action: str, project: str = "") -> None:
    admin.execute(
        "INSERT INTO audit (member, action, project) VALUES ('administrator', %s, %s)",
        (action, project),
    )
