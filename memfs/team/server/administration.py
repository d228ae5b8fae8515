"""What an administrator does with members, tokens, projects and what is kept, in the database."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from psycopg import Connection, errors, sql
from psycopg.conninfo import make_conninfo

from memfs.core.errors import MemfsError, NotFoundError, UsageError
from memfs.team.protocol import PREFIX, hash_origin
from memfs.team.server import database
from memfs.team.server.database import OLDEST, SCHEMA

Admin = Connection[tuple[object, ...]]

_FOLDER = os.path.join(os.path.dirname(__file__), "schema")
_EXTENSION = "memfs_vector"  # the schema of pgvector, where it is not installed yet
_TEAM = re.compile(r"[a-z][a-z0-9_]{0,30}")
_FOR_SERVICE = (
    *("whoami", "push", "retract", "purge", "check_search", "find_words", "find_near"),
    *("read_messages", "read_around", "check_scope", "describe"),
)
_FOR_WORKERS = ("follow", "follow_projects", "follow_messages", "describe")


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
        become_owner(admin)
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


@dataclass(frozen=True)
class SchemaState:
    """What `set_up` did: `service` and `workers` are new addresses, "" where they stay.

    `vectors`: the database has pgvector. `version` is that of the schema, `before` 0 for a new one.
    """

    team: str
    before: int
    version: int
    vectors: bool
    service: str = ""
    workers: str = ""


def set_up(address: str, team: str = "", *, renew: bool = False) -> SchemaState:
    """Make the schema for a team, or bring it up to date; all of it or nothing.

    `renew` gives the service and the workers new passwords. Raises `MemfsError`.
    """
    if team and not _TEAM.fullmatch(team):
        raise UsageError(
            f"{team!r} is no name for a team", "use small letters, digits and _, from a letter on"
        )
    with database.connect(address) as admin, database.convert_errors():
        _check_version(admin)
        known = find_team(admin)
        if not known and not team:
            raise UsageError("the team has no name yet", "memfs team init --team NAME")
        if known and team not in ("", known):
            raise UsageError(f"this database is that of the team {known}", "use another one")
        team = known or team
        passwords = {}
        if not known or renew:
            passwords = {role: secrets.token_urlsafe(32) for role in ("service", "workers")}
        if not known:
            _make_roles(admin, team)
        for role, password in passwords.items():
            _set_password(admin, _name_role(team, role), password)
        _add_vectors(admin)
        become_owner(admin)
        before = _migrate(admin, team)
        _write_functions(admin, team)
        _, vectors, _ = database.fetch(admin, "SELECT * FROM describe()", ())[0]
        addresses = {
            role: make_conninfo(address, user=_name_role(team, role), password=password)
            for role, password in passwords.items()
        }
    return SchemaState(team, before, get_version(), bool(vectors), **addresses)


def get_version() -> int:
    """Return the version of the schema that this program needs."""
    return max(number for number, _ in _list_migrations())


def find_team(admin: Admin) -> str:
    """Return the team that a database belongs to, "" for none yet."""
    if not database.fetch(admin, "SELECT to_regnamespace(%s)", (SCHEMA,))[0][0]:
        return ""
    become_owner(admin)
    found = database.fetch(admin, "SELECT id FROM team", ())
    admin.execute("RESET ROLE")
    return str(found[0][0])


def become_owner(admin: Admin) -> None:
    """Act as the owner of the tables. Raises `MemfsError` for a login that may not."""
    rows = database.fetch(
        admin, "SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = %s", (SCHEMA,)
    )
    if not rows:
        raise MemfsError("this database has no team yet", "memfs team init --team NAME makes one")
    path = [SCHEMA, *_find_extension(admin), "pg_temp"]
    admin.execute(sql.SQL("SET ROLE {}").format(sql.SQL(str(rows[0][0]))))
    admin.execute("SELECT set_config('search_path', %s, false)", (", ".join(path),))
    admin.execute("SELECT set_config('memfs.administration', 'on', false)")


def _check_version(admin: Admin) -> None:
    if admin.info.server_version < OLDEST:
        raise MemfsError(
            f"this is PostgreSQL {admin.info.server_version // 10000}, and memfs needs 15",
            "use a newer server",
        )


def _name_role(team: str, role: str) -> str:
    return f"memfs_{team}_{role}"


def _make_roles(admin: Admin, team: str) -> None:
    """Make the roles and the schema; roles of an earlier database of this name are taken over."""
    owner = sql.Identifier(_name_role(team, "owner"))
    for role in ("owner", "service", "workers"):
        name = _name_role(team, role)
        if not database.fetch(admin, "SELECT to_regrole(%s)", (name,))[0][0]:
            admin.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(name)))
    admin.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(owner))
    admin.execute(
        sql.SQL("CREATE SCHEMA {} AUTHORIZATION {}").format(sql.Identifier(SCHEMA), owner)
    )


def _set_password(admin: Admin, role: str, password: str) -> None:
    admin.execute(
        sql.SQL("ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {}").format(
            sql.Identifier(role), sql.Literal(password)
        )
    )


def _add_vectors(admin: Admin) -> None:
    """Install pgvector where the server has it, and this login may."""
    available = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    if _find_extension(admin) or not database.fetch(admin, available, ()):
        return
    try:
        with admin.transaction():
            schema = sql.Identifier(_EXTENSION)
            admin.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
            admin.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO PUBLIC").format(schema))
            admin.execute(sql.SQL("CREATE EXTENSION vector WITH SCHEMA {}").format(schema))
    except database.REFUSED:  # words alone, then
        return


def _find_extension(admin: Admin) -> list[str]:
    """Return the schema that pgvector is in, in a list; none where it is not installed."""
    statement = (
        "SELECT quote_ident(n.nspname) FROM pg_extension e"
        " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    )
    return [str(name) for (name,) in database.fetch(admin, statement, ())]


def _list_migrations() -> list[tuple[int, str]]:
    names = (name for name in os.listdir(_FOLDER) if name[:3].isdecimal())
    return sorted((int(name[:3]), os.path.join(_FOLDER, name)) for name in names)


def _migrate(admin: Admin, team: str) -> int:
    """Apply the migrations that are missing; return the version before them, 0 for none."""
    admin.execute(
        "CREATE TABLE IF NOT EXISTS schema_version"
        " (number int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
    )
    found = database.fetch(admin, "SELECT coalesce(max(number), 0) FROM schema_version", ())
    before = int(str(found[0][0]))
    if before > get_version():
        raise MemfsError(
            f"the schema has version {before}, this memfs knows {get_version()}", "update memfs"
        )
    for number, path in _list_migrations():
        if number > before:
            database.run_script(admin, _read(path))
            admin.execute("INSERT INTO schema_version (number) VALUES (%s)", (number,))
    if _find_extension(admin):
        database.run_script(admin, _read(os.path.join(_FOLDER, "vectors.sql")))
    admin.execute("INSERT INTO team (id) VALUES (%s) ON CONFLICT DO NOTHING", (team,))
    return before


def _write_functions(admin: Admin, team: str) -> None:
    """Replace all functions by those of this version, and grant the roles what they need."""
    old = database.fetch(
        admin,
        "SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = %s::regnamespace",
        (SCHEMA,),
    )
    for (name,) in old:
        admin.execute(sql.SQL("DROP FUNCTION {} CASCADE").format(sql.SQL(str(name))))
    admin.execute("DROP TYPE IF EXISTS found_message")
    database.run_script(admin, _read(os.path.join(_FOLDER, "functions.sql")))
    path = sql.SQL(", ").join(map(sql.SQL, [SCHEMA, *_find_extension(admin), "pg_temp"]))
    schema = sql.Identifier(SCHEMA)
    new = database.fetch(
        admin,
        "SELECT p.oid::regprocedure::text, p.proname FROM pg_proc p"
        " WHERE p.pronamespace = %s::regnamespace",
        (SCHEMA,),
    )
    for signature, name in new:
        function = sql.SQL(str(signature))
        admin.execute(sql.SQL("ALTER FUNCTION {} SET search_path = {}").format(function, path))
        admin.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC").format(function))
        for role, names in (("service", _FOR_SERVICE), ("workers", _FOR_WORKERS)):
            if name in names:
                grantee = sql.Identifier(_name_role(team, role))
                admin.execute(
                    sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(function, grantee)
                )
    for role in ("service", "workers"):
        grantee = sql.Identifier(_name_role(team, role))
        admin.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, grantee))


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
