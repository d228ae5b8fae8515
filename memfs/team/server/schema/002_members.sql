-- A message, and a session, is of the member who pushed it: no other one adds to it, replaces it or
-- brings it back. An id is made of the member's number and `client_id`, the id that was pushed.
-- Each message goes to the member who shared it first.

ALTER TABLE session ADD member int REFERENCES member ON DELETE CASCADE,
    ADD made_at timestamptz NOT NULL DEFAULT now(),
    ADD retracted bigint NOT NULL DEFAULT 0; -- when the member took all of it back
ALTER TABLE session DROP CONSTRAINT session_project_host_ident_key,
    ADD UNIQUE (project, member, host, ident);
CREATE INDEX session_made ON session (member, made_at);

-- Sixteen parts by project: a search reads one of them, whatever dates anybody's messages have.
-- No index begins with the project: beside the one of words, it would only be read in vain.
ALTER TABLE message RENAME TO old_message;
ALTER TABLE old_message DROP CONSTRAINT message_pkey;
CREATE TABLE message (
    project int NOT NULL,
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    client_id uuid NOT NULL,
    member int NOT NULL,
    stamp bigint NOT NULL,
    received timestamptz NOT NULL DEFAULT now(), -- by our clock: a stamp is what a member says
    session bigint NOT NULL,
    ordinal int NOT NULL,
    role text NOT NULL,
    speaker text NOT NULL,
    text text NOT NULL,
    words bigint[] NOT NULL,
    redactor text NOT NULL,
    PRIMARY KEY (id, project, at)
) PARTITION BY HASH (project);
DO $$ BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format('CREATE TABLE message_%s PARTITION OF message
            FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
    END LOOP;
END $$;

CREATE TEMPORARY TABLE claim ON COMMIT DROP AS
    SELECT m.project, m.at, m.id, m.session, c.key::int AS member, c.value::bigint AS stamp
    FROM old_message m CROSS JOIN LATERAL (
        SELECT * FROM jsonb_each_text(m.claims) ORDER BY value::bigint, key::int LIMIT 1
    ) c;

-- Whose words the title and the branch of a session of several members are is not known.
CREATE TEMPORARY TABLE owned ON COMMIT DROP AS
    SELECT session, member, max(stamp) AS stamp, max(retracted) AS retracted,
        count(*) OVER (PARTITION BY session) > 1 AS of_several
    FROM (
        SELECT session, member, stamp, 0 AS retracted FROM claim
        UNION ALL SELECT session, member, 0, stamp FROM session_retraction
    ) every GROUP BY session, member;
INSERT INTO session (project, member, host, ident, branch, title, stamp, retracted)
SELECT s.project, o.member, s.host, s.ident, CASE WHEN o.of_several THEN '' ELSE s.branch END,
    CASE WHEN o.of_several THEN '' ELSE s.title END,
    CASE WHEN o.of_several THEN 0 ELSE s.stamp END, o.retracted
FROM owned o JOIN session s ON s.id = o.session ORDER BY o.session, o.member;
DROP TABLE session_retraction;

INSERT INTO message (project, at, id, client_id, member, stamp, session, ordinal, role, speaker,
    text, words, redactor)
SELECT m.project, m.at, md5(c.member || ':' || m.id)::uuid, m.id, c.member, c.stamp, n.id,
    m.ordinal, m.role, m.speaker, m.text, m.words, m.redactor
FROM old_message m JOIN claim c USING (project, at, id)
JOIN session o ON o.id = m.session
JOIN session n ON (n.project, n.host, n.ident) = (o.project, o.host, o.ident)
    AND n.member = c.member;

-- How many messages a project has, as the sum of what each transaction added or took away.
DROP TABLE change;
CREATE TABLE change (
    project int NOT NULL REFERENCES project ON DELETE CASCADE,
    many int NOT NULL
);
CREATE INDEX change_project ON change (project) INCLUDE (many);
INSERT INTO change SELECT project, count(*) FROM message GROUP BY project;
DROP TABLE old_message;
DELETE FROM session WHERE member IS NULL;

ALTER TABLE session ALTER member SET NOT NULL;
CREATE INDEX message_words ON message USING gin (words);
CREATE INDEX message_session ON message (session, at, ordinal);
CREATE INDEX message_client ON message (client_id);
ALTER TABLE IF EXISTS vector RENAME TO old_vector; -- goes to the new one, see vectors.sql
ALTER TABLE IF EXISTS old_vector DROP CONSTRAINT vector_pkey;
