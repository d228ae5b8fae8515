-- All that the service may do. Each function asks for the token's hash, finds out whose it is, and
-- what that member may see; it runs as the owner of the tables, which the service is not.

CREATE FUNCTION authorize(given bytea, wanted text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE found record;
BEGIN
    SELECT t.member, t.scopes INTO found FROM token t JOIN member m ON m.id = t.member
    WHERE t.hash = given AND t.expires_at > now() AND t.revoked_at IS NULL AND m.revoked_at IS NULL;
    IF found IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'MF401', MESSAGE = 'this token is not valid';
    ELSIF NOT wanted = ANY (found.scopes) THEN
        RAISE EXCEPTION USING ERRCODE = 'MF403', MESSAGE = 'this token may not do that';
    END IF;
    PERFORM set_config('memfs.member', found.member::text, true);
    RETURN found.member;
END $$;

CREATE FUNCTION check_access(who int, wanted int, writes boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM access a WHERE a.member = who AND a.project = wanted
        AND (NOT writes OR a.role = 'writer')
    ) THEN
        RAISE EXCEPTION USING ERRCODE = 'MF403', MESSAGE = 'no access to this project';
    END IF;
END $$;

CREATE FUNCTION note(who int, what text, about int, many bigint) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO audit (member, action, project, count) VALUES (
        (SELECT login FROM member WHERE id = who), what,
        coalesce((SELECT name FROM project WHERE id = about), ''), many
    );
$$;

CREATE FUNCTION check_scope(token_hash bytea, wanted text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM authorize(token_hash, wanted);
END $$;

CREATE FUNCTION whoami(token_hash bytea)
RETURNS TABLE (team text, member text, scopes text[], expires timestamptz, projects jsonb)
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE me int := authorize(token_hash, 'search');
BEGIN
    RETURN QUERY SELECT (SELECT t.id FROM team t), m.login, k.scopes, k.expires_at, coalesce((
        SELECT jsonb_agg(jsonb_build_object(
            'id', p.id, 'name', p.name, 'role', a.role, 'origins', p.origins) ORDER BY p.name)
        FROM access a JOIN project p ON p.id = a.project WHERE a.member = me
    ), '[]') FROM member m JOIN token k ON k.member = m.id AND k.hash = token_hash WHERE m.id = me;
END $$;

-- The id of a message: nobody else's push or retraction has the same one.
CREATE FUNCTION make_id(owner int, client_id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT md5(owner || ':' || client_id)::uuid;
$$;

-- Make the sessions of a member (host, ident) that are missing, unless these are too many.
CREATE FUNCTION ensure_sessions(me int, wanted int, sessions jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO session (project, member, host, ident, branch, title, stamp)
    SELECT wanted, me, v.host, v.ident, '', '', 0
    FROM jsonb_to_recordset(sessions) v (host text, ident text)
    ORDER BY v.host, v.ident ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF (SELECT count(*) FROM session s WHERE s.project = wanted AND s.member = me) > 100000 THEN
        RAISE EXCEPTION USING ERRCODE = 'MF403', HINT = 'share fewer sessions',
            MESSAGE = 'a member may have 100,000 sessions in a project';
    ELSIF (SELECT count(*) FROM session s
           WHERE s.member = me AND s.made_at > now() - interval '1 day') > 20000 THEN
        RAISE EXCEPTION USING ERRCODE = 'MF403', HINT = 'share the rest tomorrow',
            MESSAGE = 'a member may add 20,000 sessions a day';
    END IF;
END $$;

-- Store messages (`rows`: id, of, ordinal, at, role, speaker, text, words, and a vector where there
-- are such) of sessions (host, ident, branch, title) as the member's own. What the member took back
-- later stays away. A member's pushes wait for what the member takes back, and the other way round.
CREATE FUNCTION push(
    token_hash bytea, wanted int, decided bigint, redacted_by text, sessions jsonb, rows jsonb
) RETURNS TABLE (stored int, known int, retracted int)
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    me int := authorize(token_hash, 'push');
    with_vectors boolean := to_regclass('vector') IS NOT NULL;
    new_ids uuid[];
    late uuid[];
    told int;
BEGIN
    PERFORM check_access(me, wanted, true);
    PERFORM pg_advisory_xact_lock_shared(wanted, me);

    PERFORM ensure_sessions(me, wanted, sessions);

    SELECT count(DISTINCT g.id), coalesce(array_agg(DISTINCT make_id(me, g.id)) FILTER (
        WHERE EXISTS (
            SELECT FROM retraction x WHERE x.project = wanted AND x.id = g.id
            AND x.member = me AND x.stamp >= decided
        ) OR EXISTS (
            SELECT FROM session s WHERE s.project = wanted AND s.member = me
            AND s.host = sessions -> g.of ->> 'host' AND s.ident = sessions -> g.of ->> 'ident'
            AND s.retracted >= decided
        )
    ), '{}') INTO told, late FROM jsonb_to_recordset(rows) g (id uuid, of int);

    WITH given AS (
        SELECT DISTINCT ON (g.at, g.id) make_id(me, g.id) AS own, g.*
        FROM jsonb_to_recordset(rows) g (
            id uuid, of int, ordinal int, at timestamptz, role text, speaker text, text text,
            words bigint[]
        ) ORDER BY g.at, g.id
    ), written AS (
        INSERT INTO message AS m (project, at, id, client_id, member, stamp, session, ordinal,
            role, speaker, text, words, redactor)
        SELECT wanted, g.at, g.own, g.id, me, decided, s.id, g.ordinal, g.role, g.speaker, g.text,
            g.words, redacted_by
        FROM given g
        JOIN session s ON s.project = wanted AND s.member = me
            AND s.host = sessions -> g.of ->> 'host' AND s.ident = sessions -> g.of ->> 'ident'
        WHERE NOT g.own = ANY (late) ORDER BY g.at, g.own
        ON CONFLICT DO NOTHING RETURNING m.id
    )
    SELECT coalesce(array_agg(w.id), '{}') INTO new_ids FROM written w;
    stored := cardinality(new_ids);
    retracted := cardinality(late);
    known := told - retracted - stored;

    IF known > 0 THEN
        WITH older AS MATERIALIZED (
            SELECT m.project, m.at, m.id
            FROM (SELECT DISTINCT make_id(me, r.id) AS id, r.at
                  FROM jsonb_to_recordset(rows) r (id uuid, at timestamptz)) g
            JOIN message m ON m.project = wanted AND m.at = g.at AND m.id = g.id
            WHERE NOT m.id = ANY (late) AND NOT m.id = ANY (new_ids) AND m.stamp < decided
            ORDER BY m.at, m.id FOR UPDATE OF m
        )
        UPDATE message m SET stamp = decided
        FROM older o WHERE m.project = o.project AND m.at = o.at AND m.id = o.id;
    END IF;

    UPDATE session s SET branch = v.branch, title = v.title, stamp = decided
    FROM jsonb_to_recordset(sessions) v (host text, ident text, branch text, title text)
    WHERE s.project = wanted AND s.member = me AND s.host = v.host AND s.ident = v.ident
    AND (s.stamp, s.title, s.branch) < (decided, v.title, v.branch)
    AND EXISTS (SELECT FROM message m WHERE m.session = s.id);
    IF stored > 0 THEN
        INSERT INTO change VALUES (wanted, stored);
        PERFORM note(me, 'push', wanted, stored);
    END IF;
    IF stored > 0 AND with_vectors THEN
        INSERT INTO vector (project, at, id, value)
        SELECT wanted, v.at, make_id(me, v.id), v.vector::halfvec
        FROM jsonb_to_recordset(rows) v (id uuid, at timestamptz, vector text)
        WHERE v.vector IS NOT NULL AND make_id(me, v.id) = ANY (new_ids) ORDER BY v.at, v.id
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NEXT;
END $$;

-- Remove messages of sessions, those named or all (null), as far as they were not shared again
-- later; return how many they were.
CREATE FUNCTION take_back(wanted int, sessions bigint[], named uuid[], decided bigint)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    lost uuid[];
    lost_ats timestamptz[];
BEGIN
    WITH gone AS (
        DELETE FROM message m WHERE m.session = ANY (sessions)
        AND (named IS NULL OR m.id = ANY (named)) AND m.stamp <= decided RETURNING m.id, m.at
    )
    SELECT array_agg(g.id), array_agg(g.at) INTO lost, lost_ats FROM gone g;
    UPDATE session s SET branch = '', title = '' -- a title is somebody's words, too
    WHERE s.id = ANY (sessions) AND NOT EXISTS (SELECT FROM message m WHERE m.session = s.id);
    IF lost IS NULL THEN
        RETURN 0;
    END IF;
    IF to_regclass('vector') IS NOT NULL THEN
        DELETE FROM vector v USING unnest(lost, lost_ats) l (id, at)
        WHERE v.project = wanted AND v.at = l.at AND v.id = l.id;
    END IF;
    INSERT INTO change VALUES (wanted, -cardinality(lost));
    RETURN cardinality(lost);
END $$;

CREATE FUNCTION retract(
    token_hash bytea, wanted int, decided bigint, host_name text, session_name text, named uuid[]
) RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    me int := authorize(token_hash, 'push');
    own uuid[];
    found bigint[];
    removed int;
BEGIN
    PERFORM check_access(me, wanted, false);
    PERFORM pg_advisory_xact_lock(wanted, me);
    IF named IS NULL THEN
        PERFORM ensure_sessions(me, wanted, jsonb_build_array(
            jsonb_build_object('host', host_name, 'ident', session_name)));
        WITH changed AS (
            UPDATE session s SET retracted = greatest(s.retracted, decided)
            WHERE s.project = wanted AND s.member = me AND s.host = host_name
            AND s.ident = session_name RETURNING s.id
        )
        SELECT array_agg(c.id) INTO found FROM changed c;
    ELSE
        INSERT INTO retraction AS x SELECT DISTINCT wanted, n, me, decided FROM unnest(named) n
        ORDER BY 2
        ON CONFLICT (project, id, member) DO UPDATE SET stamp = greatest(x.stamp, excluded.stamp);
        SELECT array_agg(make_id(me, n)) INTO own FROM unnest(named) n;
        SELECT array_agg(DISTINCT m.session) INTO found
        FROM message m WHERE m.project = wanted AND m.id = ANY (own);
    END IF;
    removed := take_back(wanted, found, own, decided);
    PERFORM note(me, 'retract', wanted, removed);
    RETURN removed;
END $$;

-- Everything of a member's own goes: from one project, or from all (0), also from those that it may
-- not see any more.
CREATE FUNCTION purge_member(me int, wanted int)
RETURNS TABLE (sessions int, messages int) LANGUAGE plpgsql AS $$
DECLARE
    each int;
    own bigint[];
BEGIN
    PERFORM set_config('memfs.administration', 'on', true);
    PERFORM pg_advisory_xact_lock(p.id, me) FROM project p WHERE wanted IN (0, p.id);
    sessions := 0;
    messages := 0;
    FOR each IN
        SELECT DISTINCT s.project FROM session s
        WHERE s.member = me AND wanted IN (0, s.project) ORDER BY 1
    LOOP
        SELECT sessions + count(*) FILTER (
            WHERE EXISTS (SELECT FROM message m WHERE m.session = s.id)
        ), array_agg(s.id) INTO sessions, own
        FROM session s WHERE s.project = each AND s.member = me;
        UPDATE session s SET retracted =
            greatest(s.retracted, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
        WHERE s.id = ANY (own);
        messages := messages + take_back(each, own, NULL, 9223372036854775807);
    END LOOP;
    PERFORM note(me, 'purge', wanted, messages);
    RETURN NEXT;
END $$;

CREATE FUNCTION purge(token_hash bytea, wanted int)
RETURNS TABLE (sessions int, messages int) LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY SELECT * FROM purge_member(authorize(token_hash, 'push'), wanted);
    PERFORM set_config('memfs.administration', '', true);
END $$;

-- For administrators alone, who own the tables: remove a project, and what is too old.
CREATE FUNCTION drop_project(gone int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE removed bigint;
BEGIN
    DELETE FROM message m WHERE m.project = gone;
    GET DIAGNOSTICS removed = ROW_COUNT;
    IF to_regclass('vector') IS NOT NULL THEN
        DELETE FROM vector v WHERE v.project = gone;
    END IF;
    DELETE FROM project p WHERE p.id = gone;
    RETURN removed;
END $$;

-- What somebody changes at this moment is left for the next time: nobody waits for each other.
CREATE FUNCTION prune() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    projects int[];
    lost uuid[];
    lost_ats timestamptz[];
BEGIN
    WITH due AS MATERIALIZED (
        SELECT m.project, m.at, m.id FROM message m JOIN project p ON p.id = m.project
        WHERE m.at < now() - make_interval(days => p.retention_days)
        FOR UPDATE OF m SKIP LOCKED
    ), old AS (
        DELETE FROM message m USING due d
        WHERE m.project = d.project AND m.at = d.at AND m.id = d.id
        RETURNING m.project, m.id, m.at
    ), told AS (
        INSERT INTO change SELECT project, -count(*) FROM old GROUP BY project
    )
    SELECT array_agg(project), array_agg(id), array_agg(at) INTO projects, lost, lost_ats FROM old;
    IF to_regclass('vector') IS NOT NULL THEN
        DELETE FROM vector v USING unnest(projects, lost, lost_ats) l (project, id, at)
        WHERE v.project = l.project AND v.at = l.at AND v.id = l.id;
    END IF;
    UPDATE session s SET branch = '', title = '' FROM (
        SELECT each.id FROM session each
        WHERE title <> '' AND NOT EXISTS (SELECT FROM message m WHERE m.session = each.id)
        FOR UPDATE SKIP LOCKED
    ) empty WHERE s.id = empty.id;
    RETURN coalesce(cardinality(lost), 0);
END $$;

CREATE TYPE found_message AS (
    id uuid, at timestamptz, project int, role text, speaker text, text text, host text, ident text,
    branch text, member text
);

-- The names of projects.
CREATE FUNCTION check_search(token_hash bytea, wanted int[])
RETURNS TABLE (id int, name text) LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE me int := authorize(token_hash, 'search');
BEGIN
    PERFORM check_access(me, p, false) FROM unnest(wanted) p;
    RETURN QUERY SELECT p.id, p.name FROM project p WHERE p.id = ANY (wanted);
END $$;

-- The messages of a project that have the most of some words, each weighted by its rarity there.
CREATE FUNCTION find_words(
    token_hash bytea, wanted int, terms bigint[], roles text[], since timestamptz,
    until timestamptz, most int
) RETURNS TABLE (id uuid, at timestamptz, score float8, counts int[], total bigint)
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE me int := authorize(token_hash, 'search');
BEGIN
    PERFORM check_access(me, wanted, false);
    RETURN QUERY
    WITH hits AS MATERIALIZED (
        SELECT t.n, m.id, m.at FROM unnest(terms) WITH ORDINALITY t (term, n)
        CROSS JOIN LATERAL (
            -- OFFSET: the index is asked for each term, however many there are.
            SELECT m.id, m.at FROM message m
            WHERE m.words @> ARRAY[t.term] AND m.project = wanted
            AND (cardinality(roles) = 0 OR m.role = ANY (roles))
            AND (since IS NULL OR m.at >= since) AND (until IS NULL OR m.at <= until)
            OFFSET 0
        ) m
    ), frequency AS MATERIALIZED (
        SELECT n, count(h.id)::int AS hits
        FROM generate_series(1, cardinality(terms)) n LEFT JOIN hits h USING (n) GROUP BY n
    ), every AS (
        SELECT coalesce(sum(c.many), 0)::float8 AS total FROM change c WHERE c.project = wanted
    ), weight AS MATERIALIZED (
        SELECT f.n, ln(1 + (greatest(e.total, f.hits) - f.hits + 0.5) / (f.hits + 0.5)) AS idf
        FROM frequency f, every e
    ), scored AS (
        SELECT h.id, h.at, sum(w.idf ORDER BY w.n) AS score
        FROM hits h JOIN weight w USING (n) GROUP BY h.id, h.at
    )
    SELECT s.id, s.at, s.score, array(SELECT f.hits FROM frequency f ORDER BY f.n),
        e.total::bigint
    FROM scored s, every e
    ORDER BY 3 DESC, 2 DESC, 1 LIMIT most;
END $$;

-- The messages of a project whose vectors are nearest: all of its vectors are compared.
CREATE FUNCTION find_near(
    token_hash bytea, wanted int, point text, roles text[], since timestamptz, until timestamptz,
    most int
) RETURNS TABLE (id uuid, at timestamptz, cosine float8)
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE me int := authorize(token_hash, 'search');
BEGIN
    PERFORM check_access(me, wanted, false);
    IF to_regclass('vector') IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE '
        WITH own AS MATERIALIZED (
            SELECT v.id, v.at, v.value <#> $2::halfvec AS far FROM vector v WHERE v.project = $1
            AND ($3 IS NULL OR v.at >= $3) AND ($4 IS NULL OR v.at <= $4)
        )
        SELECT o.id, o.at, -o.far FROM own o
        WHERE cardinality($6) = 0 OR EXISTS (
            SELECT FROM message m WHERE m.project = $1 AND m.at = o.at AND m.id = o.id
            AND m.role = ANY ($6)
        )
        ORDER BY o.far, o.at DESC, o.id LIMIT $5'
    USING wanted, point, since, until, most, roles;
END $$;

-- Messages of projects by their ids, as far as they are there. Of those that several members share
-- alike it is one.
CREATE FUNCTION read_messages(token_hash bytea, wanted int[], named uuid[])
RETURNS SETOF found_message LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE me int := authorize(token_hash, 'search');
BEGIN
    PERFORM check_access(me, p, false) FROM unnest(wanted) p;
    RETURN QUERY SELECT DISTINCT ON (m.project, m.client_id, m.at, m.text)
        m.id, m.at, m.project, m.role, m.speaker, m.text,
        s.host, s.ident, s.branch, w.login
    FROM unnest(named) n (id) JOIN message m ON m.project = ANY (wanted) AND m.id = n.id
    JOIN session s ON s.id = m.session JOIN member w ON w.id = m.member
    ORDER BY m.project, m.client_id, m.at, m.text, m.received, m.member;
END $$;

-- The messages of sessions around some: at most `beside` before and after each. Of those that
-- several members share alike it is the first that came: each is shown with its own member and
-- session, and never with another's.
CREATE FUNCTION read_around(
    token_hash bytea, wanted int, named uuid[], ats timestamptz[], beside int
) RETURNS SETOF found_message LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE me int := authorize(token_hash, 'search');
BEGIN
    PERFORM check_access(me, wanted, false);
    RETURN QUERY
    WITH centre AS MATERIALIZED (
        SELECT m.session, m.at, m.ordinal FROM unnest(named, ats) n (id, at)
        JOIN message m ON m.project = wanted AND m.at = n.at AND m.id = n.id
    ), around AS MATERIALIZED (
        SELECT DISTINCT near.at, near.id FROM centre c CROSS JOIN LATERAL (
            (SELECT m.at, m.id FROM message m
             WHERE m.project = wanted AND m.session = c.session
             AND (m.at, m.ordinal) >= (c.at, c.ordinal)
             ORDER BY m.at, m.ordinal LIMIT beside + 1)
            UNION ALL
            (SELECT m.at, m.id FROM message m
             WHERE m.project = wanted AND m.session = c.session
             AND (m.at, m.ordinal) < (c.at, c.ordinal)
             ORDER BY m.at DESC, m.ordinal DESC LIMIT beside)
        ) near
    )
    SELECT m.id, m.at, m.project, m.role, m.speaker, m.text,
        s.host, s.ident, s.branch, w.login
    FROM around a JOIN message m ON m.project = wanted AND m.at = a.at AND m.id = a.id
    JOIN session s ON s.id = m.session JOIN member w ON w.id = m.member
    WHERE NOT EXISTS (
        SELECT FROM message t WHERE t.project = wanted AND t.client_id = m.client_id
        AND t.at = m.at AND t.text = m.text AND (t.received, t.member) < (m.received, m.member)
    )
    ORDER BY m.session, m.at, m.ordinal;
END $$;

-- For the service itself: nothing of anybody's.
CREATE FUNCTION describe() RETURNS TABLE (version int, vectors boolean)
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT max(v.number), to_regclass('vector') IS NOT NULL FROM schema_version v;
$$;
