"""Makes the schema of a team in a database, and brings an older one up to date.

The tables belong to a role that nobody logs in as. The service logs in as one that may call some
functions, the workers of index folders as one that may follow changes.
"""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass

from psycopg import Connection, sql
from psycopg.conninfo import make_conninfo

from memfs.core.errors import MemfsError, UsageError
from memfs.team import database
from memfs.team.database import OLDEST, SCHEMA

Admin = Connection[tuple[object, ...]]

_FOLDER = os.path.join(os.path.dirname(__file__), "schema")
_EXTENSION = "memfs_vector"  # the schema of pgvector, where it is not installed yet
_TEAM = re.compile(r"[a-z][a-z0-9_]{0,30}")
_FOR_SERVICE = (
    *("whoami", "push", "retract", "purge", "check_search", "find_words", "find_near"),
    *("read_messages", "read_around", "check_scope", "describe"),
)
_FOR_WORKERS = ("follow", "follow_projects", "follow_messages", "describe")


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
