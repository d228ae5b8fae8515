-- The ledger of a team. Nobody but the functions reads or writes these tables (see functions.sql).

CREATE TABLE team (
    id text NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    single boolean PRIMARY KEY DEFAULT true CHECK (single)
);

CREATE TABLE member (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    login text NOT NULL UNIQUE,
    made_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);

-- A token is 256 random bits; only its SHA-256 is kept.
CREATE TABLE token (
    hash bytea PRIMARY KEY,
    member int NOT NULL REFERENCES member ON DELETE CASCADE,
    scopes text[] NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz
);
CREATE INDEX token_member ON token (member);

CREATE TABLE project (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    origins text[] NOT NULL DEFAULT '{}',
    retention_days int CHECK (retention_days > 0),
    made_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE access (
    project int NOT NULL REFERENCES project ON DELETE CASCADE,
    member int NOT NULL REFERENCES member ON DELETE CASCADE,
    role text NOT NULL CHECK (role IN ('reader', 'writer')),
    PRIMARY KEY (member, project)
);

CREATE TABLE session (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project int NOT NULL REFERENCES project ON DELETE CASCADE,
    host text NOT NULL,
    ident text NOT NULL,
    branch text NOT NULL,
    title text NOT NULL,
    stamp bigint NOT NULL, -- of the push that its branch and title come from
    UNIQUE (project, host, ident)
);

-- `claims` maps members who share the message to the stamps of their decisions: it is one row,
-- whoever sends it. `words` are hashes of its words with the project: no word of one project is
-- the word of another.
CREATE TABLE message (
    project int NOT NULL,
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    session bigint NOT NULL,
    ordinal int NOT NULL,
    role text NOT NULL,
    speaker text NOT NULL,
    text text NOT NULL,
    words bigint[] NOT NULL,
    claims jsonb NOT NULL,
    redactor text NOT NULL,
    PRIMARY KEY (project, id, at)
) PARTITION BY RANGE (at);
CREATE TABLE message_rest PARTITION OF message DEFAULT;
CREATE INDEX message_words ON message USING gin (words);
CREATE INDEX message_session ON message (session, at, ordinal);

-- What members took back, and when they decided so: a push that was decided earlier is too late.
CREATE TABLE retraction (
    project int NOT NULL REFERENCES project ON DELETE CASCADE,
    id uuid NOT NULL,
    member int NOT NULL REFERENCES member ON DELETE CASCADE,
    stamp bigint NOT NULL,
    PRIMARY KEY (project, id, member)
);
CREATE TABLE session_retraction (
    session bigint NOT NULL REFERENCES session ON DELETE CASCADE,
    member int NOT NULL REFERENCES member ON DELETE CASCADE,
    stamp bigint NOT NULL,
    PRIMARY KEY (session, member)
);

-- What index folders follow: a row for each transaction that changed messages of a project.
CREATE TABLE change (
    project int NOT NULL REFERENCES project ON DELETE CASCADE,
    tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
    number bigint GENERATED ALWAYS AS IDENTITY,
    gone boolean NOT NULL,
    many int NOT NULL, -- messages that are there since, less those that are not
    ids uuid[] NOT NULL,
    ats timestamptz[] NOT NULL,
    PRIMARY KEY (tx, number)
);
CREATE INDEX change_project ON change (project) INCLUDE (many);
CREATE INDEX change_gone ON change (project) WHERE gone;

-- Who did what, without anybody's words.
CREATE TABLE audit (
    at timestamptz NOT NULL DEFAULT now(),
    member text NOT NULL,
    action text NOT NULL,
    project text NOT NULL DEFAULT '',
    count bigint NOT NULL DEFAULT 0
);
CREATE INDEX audit_at ON audit (at);

-- The second wall: a function that forgot its check would still see no session of another project,
-- and no message is given away without its session.
ALTER TABLE session ENABLE ROW LEVEL SECURITY;
ALTER TABLE session FORCE ROW LEVEL SECURITY;
CREATE POLICY of_members ON session USING (
    current_setting('memfs.administration', true) = 'on'
    OR project IN (
        SELECT a.project FROM access a
        WHERE a.member = nullif(current_setting('memfs.member', true), '')::int
    )
);
