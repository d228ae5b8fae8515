"""What an administrator does with members, tokens, projects and what is kept, in the database."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, LiteralString, NamedTuple, TypeVar

from psycopg import errors, sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import args_row

from memfs.core.errors import MemfsError, NotFoundError, UsageError
from memfs.team.protocol import PREFIX, hash_origin
from memfs.team.server import database
from memfs.team.server.database import OLDEST, SCHEMA, Admin, hash_token

T = TypeVar("T")
_FOLDER = os.path.join(os.path.dirname(__file__), "schema")
_EXTENSION = "memfs_vector"  # the schema of pgvector, where it is not installed yet
_TEAM = re.compile(r"[a-z][a-z0-9_]{0,30}")
_FOR_SERVICE = (
    *("whoami", "push", "retract", "purge", "check_search", "find_words", "find_near"),
    *("read_messages", "read_around", "check_scope", "describe"),
)
_MEMBER_SCOPES = ("search", "push")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,100}")
_MOST_DAYS = 3650


class ListedMember(NamedTuple):
    """A member: `tokens` are valid, `expires` is when the last of them does, `projects` by role."""

    login: str
    revoked: bool
    tokens: int
    expires: str
    projects: dict[str, str]


class ListedProject(NamedTuple):
    """A project: `messages` are those that are kept, for `retention` days (0: all)."""

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


def add_member(admin: Admin, login: str, days: int) -> str:
    """Add a member, and return the first token. Raises `UsageError` for one that is there."""
    if not _LOGIN.fullmatch(login):
        raise UsageError(f"{login!r} is not a valid login", "use letters, digits and . _ @ -")
    try:
        with admin.transaction():
            admin.execute("INSERT INTO member (login) VALUES (%s)", (login,))
    except errors.UniqueViolation:
        raise UsageError(
            f"'{login}' is already a member", f"create a new token: memfs team member token {login}"
        ) from None
    _note(admin, f"add member {login}")
    return add_token(admin, login, days)


def add_token(admin: Admin, login: str, days: int, scopes: tuple[str, ...] = _MEMBER_SCOPES) -> str:
    """Return a new token of a member, valid for so many days. Raises `MemfsError`."""
    if not 1 <= days <= _MOST_DAYS:
        raise UsageError(f"a token cannot be valid for {days} days, expected 1 to {_MOST_DAYS:,}")
    token = PREFIX + secrets.token_urlsafe(32)
    done = admin.execute(
        "INSERT INTO token (hash, member, scopes, expires_at)"
        " SELECT %s, id, %s, now() + make_interval(days => %s) FROM member"
        " WHERE login = %s AND revoked_at IS NULL",
        (hash_token(token), [*scopes], days, login),
    )
    _require_found(done.rowcount, "member", login)
    _note(admin, f"add token of {login}")
    return token


def revoke_member(admin: Admin, login: str, *, purge: bool = False) -> int:
    """Revoke a member and all tokens at once; `purge` removes what it shared, and counts that."""
    found = admin.execute(
        "UPDATE member SET revoked_at = now() WHERE login = %s RETURNING id", (login,)
    ).fetchone()
    (member,) = _require_found(found, "member", login)
    admin.execute("UPDATE token SET revoked_at = now() WHERE member = %s", (member,))
    admin.execute("DELETE FROM access WHERE member = %s", (member,))
    _note(admin, f"revoke member {login}")
    return _count(admin, "SELECT messages FROM purge_member(%s, 0)", member) if purge else 0


def list_members(admin: Admin) -> list[ListedMember]:
    """Return all members by their logins."""
    rows = admin.execute(
        "SELECT m.login, m.revoked_at IS NOT NULL,"
        " (SELECT count(*) FROM token t WHERE t.member = m.id AND t.revoked_at IS NULL"
        "  AND t.expires_at > now()),"
        " (SELECT max(t.expires_at) FROM token t"
        "  WHERE t.member = m.id AND t.revoked_at IS NULL),"
        " (SELECT coalesce(jsonb_object_agg(p.name, a.role), '{}') FROM access a"
        "  JOIN project p ON p.id = a.project WHERE a.member = m.id)"
        " FROM member m ORDER BY m.login"
    )
    return [
        ListedMember(login, revoked, tokens, _format_time(expires), projects)
        for login, revoked, tokens, expires, projects in rows
    ]


def add_project(
    admin: Admin, name: str, origins: tuple[str, ...] = (), retention: int | None = None
) -> None:
    """Add a project; `origins` are addresses of its repository, of which hashes are kept."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a valid project name", "use one line of up to 100 visible characters"
        )
    try:
        with admin.transaction():
            admin.execute(
                "INSERT INTO project (name, origins, retention_days) VALUES (%s, %s, %s)",
                (name, sorted(filter(None, map(hash_origin, origins))), retention),
            )
    except errors.UniqueViolation:
        raise UsageError(f"the project '{name}' already exists", "choose another name") from None
    except errors.CheckViolation:
        raise UsageError(f"cannot keep messages for {retention} days, expected 1 or more") from None
    _note(admin, "add project", name)


def grant_access(admin: Admin, name: str, login: str, role: str) -> None:
    """Give a member a role in a project (reader or writer), or none with the role "none"."""
    project = _find_project(admin, name)
    if role == "none":
        done = admin.execute(
            "DELETE FROM access USING member m"
            " WHERE access.member = m.id AND m.login = %s AND access.project = %s",
            (login, project),
        )
    else:
        done = admin.execute(
            "INSERT INTO access (member, project, role) SELECT id, %s, %s FROM member"
            " WHERE login = %s AND revoked_at IS NULL"
            " ON CONFLICT (member, project) DO UPDATE SET role = excluded.role",
            (project, role, login),
        )
    _require_found(done.rowcount, "member", login)
    _note(admin, f"grant {role} to {login}", name)


def remove_project(admin: Admin, name: str) -> int:
    """Remove a project with all that was shared for it; return how many messages that were."""
    removed = _count(admin, "SELECT drop_project(%s)", _find_project(admin, name))
    _note(admin, "remove project", name)
    return removed


def list_projects(admin: Admin) -> list[ListedProject]:
    """Return all projects by their names."""
    rows = admin.cursor(row_factory=args_row(ListedProject)).execute(
        "SELECT p.name, (SELECT count(*) FROM access a WHERE a.project = p.id),"
        " (SELECT coalesce(sum(c.many), 0)::bigint FROM change c WHERE c.project = p.id),"
        " coalesce(p.retention_days, 0) FROM project p ORDER BY p.name"
    )
    return rows.fetchall()


def prune(admin: Admin) -> int:
    """Remove what is older than the projects keep it; return how many messages that were."""

    def remove() -> int:
        with admin.transaction():
            return _count(admin, "SELECT prune()")

    removed = database.retry_conflicts(remove)  # it takes locks that pushes and searches want
    _note(admin, "prune")
    return removed


def list_audit(admin: Admin, count: int) -> list[tuple[Any, ...]]:
    """Return (when, who, what, project, how many) of the last actions, the latest first."""
    rows = admin.execute(
        "SELECT at, member, action, project, count FROM audit ORDER BY at DESC LIMIT %s", (count,)
    )
    return [(_format_time(at), *others) for at, *others in rows]


def _format_time(at: datetime | None) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else ""


def _find_project(admin: Admin, name: str) -> int:
    found = admin.execute("SELECT id FROM project WHERE name = %s", (name,)).fetchone()
    return int(_require_found(found, "project", name)[0])


def _require_found(found: T | None, kind: str, name: str) -> T:
    """Return what was found. Raises `NotFoundError` for nothing."""
    if not found:
        raise NotFoundError(
            f"there is no {kind} '{name}'", f"list the {kind}s: memfs team {kind} list"
        )
    return found


def _count(admin: Admin, statement: LiteralString, *values: object) -> int:
    return int(admin.execute(statement, values).fetchall()[0][0])


def _note(admin: Admin, action: str, project: str = "") -> None:
    admin.execute(
        "INSERT INTO audit (member, action, project) VALUES ('administrator', %s, %s)",
        (action, project),
    )


class SchemaState(NamedTuple):
    """What `set_up` did: `service` is the new address of the service, "" where it stays.

    `vectors`: the database has pgvector. `version` is that of the schema, `before` 0 for a new one.
    """

    team: str
    before: int
    version: int
    vectors: bool
    service: str = ""


def set_up(address: str, team: str = "", *, renew: bool = False) -> SchemaState:
    """Make the schema for a team, or bring it up to date; all of it or nothing.

    `renew` gives the service a new password. Raises `MemfsError`.
    """
    if team and not _TEAM.fullmatch(team):
        raise UsageError(
            f"{team!r} is not a valid team name",
            "use lowercase letters, digits and _; begin with a letter",
        )
    with database.connect(address) as admin, database.convert_errors():
        if admin.info.server_version < OLDEST:
            version = admin.info.server_version // 10000
            raise MemfsError(
                f"memfs needs PostgreSQL 15 or newer, but the database is PostgreSQL {version}",
                "use a newer PostgreSQL server",
            )
        known = _find_team(admin)
        if not known and not team:
            raise UsageError("a new database needs a team name", "run memfs team init --team NAME")
        if known and team not in ("", known):
            raise UsageError(
                f"this database belongs to the team '{known}'",
                "use another database, or leave out --team",
            )
        team = known or team
        owner, service = (sql.Identifier(f"memfs_{team}_{role}") for role in ("owner", "service"))
        if not known:
            _make_roles(admin, owner, service)
        login = ""
        if not known or renew:
            password = secrets.token_urlsafe(32)
            alter = "ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {}"
            admin.execute(sql.SQL(alter).format(service, sql.Literal(password)))
            login = make_conninfo(address, user=f"memfs_{team}_service", password=password)
        _add_vectors(admin)
        become_owner(admin)
        before = _migrate(admin, team)
        _write_functions(admin, service)
        version, vectors = admin.execute("SELECT * FROM describe()").fetchall()[0]
    return SchemaState(team, before, version, vectors, login)


def _find_team(admin: Admin) -> str:
    """Return the team that a database belongs to, "" for none yet."""
    if not admin.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchall()[0][0]:
        return ""
    become_owner(admin)
    ((team,),) = admin.execute("SELECT id FROM team").fetchall()
    admin.execute("RESET ROLE")
    return str(team)


def become_owner(admin: Admin) -> None:
    """Act as the owner of the tables. Raises `MemfsError` for a login that may not."""
    owner = admin.execute(
        "SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = %s", (SCHEMA,)
    ).fetchone()
    if not owner:
        raise MemfsError(
            "this database has no team yet", "run memfs team init --team NAME to create a team"
        )
    admin.execute(sql.SQL("SET ROLE {}").format(sql.SQL(owner[0])))
    admin.execute("SELECT set_config('search_path', %s, false)", (_make_path(admin),))
    admin.execute("SELECT set_config('memfs.administration', 'on', false)")


def _make_path(admin: Admin) -> str:
    """Return the schemas in which functions look: ours, pgvector's, and nobody else's."""
    return ", ".join([SCHEMA, *_find_extension(admin), "pg_temp"])


def _find_extension(admin: Admin) -> list[str]:
    """Return the schema of pgvector, in a list; an empty one without it."""
    rows = admin.execute(
        "SELECT quote_ident(n.nspname) FROM pg_extension e"
        " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    )
    return [name for (name,) in rows]


def _make_roles(admin: Admin, owner: sql.Identifier, service: sql.Identifier) -> None:
    """Make the roles and the schema; roles of an earlier database of this name are taken over."""
    for role in (owner, service):
        if not admin.execute("SELECT to_regrole(%s)", (role.as_string(admin),)).fetchall()[0][0]:
            admin.execute(sql.SQL("CREATE ROLE {}").format(role))
    admin.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(owner))
    schema = sql.Identifier(SCHEMA)
    admin.execute(sql.SQL("CREATE SCHEMA {} AUTHORIZATION {}").format(schema, owner))


def _add_vectors(admin: Admin) -> None:
    """Install pgvector where the server has it, and this login may."""
    available = "SELECT FROM pg_available_extensions WHERE name = 'vector'"
    if _find_extension(admin) or not admin.execute(available).fetchall():
        return
    try:
        with admin.transaction():
            schema = sql.Identifier(_EXTENSION)
            admin.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
            admin.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO PUBLIC").format(schema))
            admin.execute(sql.SQL("CREATE EXTENSION vector WITH SCHEMA {}").format(schema))
    except database.REFUSED:  # words alone, then
        return


def _migrate(admin: Admin, team: str) -> int:
    """Apply the migrations that are missing; return the version before them, 0 for none."""
    admin.execute(
        "CREATE TABLE IF NOT EXISTS schema_version"
        " (number int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
    )
    before = _count(admin, "SELECT coalesce(max(number), 0) FROM schema_version")
    scripts = {int(name[:3]): name for name in os.listdir(_FOLDER) if name[:3].isdecimal()}
    if before > max(scripts):
        raise MemfsError(
            f"the database schema has version {before}; this memfs supports up to {max(scripts)}",
            "update memfs",
        )
    for number, name in sorted(scripts.items()):
        if number > before:
            admin.execute(_read(name))
            admin.execute("INSERT INTO schema_version (number) VALUES (%s)", (number,))
    if _find_extension(admin):
        admin.execute(_read("vectors.sql"))
    admin.execute("INSERT INTO team (id) VALUES (%s) ON CONFLICT DO NOTHING", (team,))
    return before


def _write_functions(admin: Admin, service: sql.Identifier) -> None:
    """Replace all functions by those of this version, and grant the service what it needs."""
    for function, _ in _list_functions(admin):
        admin.execute(sql.SQL("DROP FUNCTION {} CASCADE").format(function))
    admin.execute("DROP TYPE IF EXISTS found_message")
    admin.execute(_read("functions.sql"))
    path = sql.SQL(_make_path(admin))
    for function, name in _list_functions(admin):
        admin.execute(sql.SQL("ALTER FUNCTION {} SET search_path = {}").format(function, path))
        admin.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC").format(function))
        if name in _FOR_SERVICE:
            grant = sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(function, service)
            admin.execute(grant)
    schema = sql.Identifier(SCHEMA)
    admin.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, service))


def _list_functions(admin: Admin) -> list[tuple[sql.SQL, str]]:
    rows = admin.execute(
        "SELECT p.oid::regprocedure::text, p.proname FROM pg_proc p"
        " WHERE p.pronamespace = %s::regnamespace",
        (SCHEMA,),
    )
    return [(sql.SQL(signature), name) for signature, name in rows]


def _read(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()
