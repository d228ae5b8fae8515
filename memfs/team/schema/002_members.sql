-- A message, and a session, is of the member who pushed it: no other one adds to it, replaces it or
-- brings it back. An id is made of the member's number and `client_id`, the id that was pushed.
-- Each message goes to the member who shared it first, and index folders follow the new ids.

ALTER TABLE session ADD member int REFERENCES member ON DELETE CASCADE,
    ADD made_at timestamptz NOT NULL DEFAULT now(),
    ADD retracted bigint NOT NULL DEFAULT 0; -- when the member took all of it back
ALTER TABLE session DROP CONSTRAINT session_project_host_ident_key,
    ADD UNIQUE (project, member, host, ident);
CREATE INDEX session_made ON session (member, made_at);

ALTER TABLE message ADD member int, ADD stamp bigint, ADD client_id uuid,
    ADD received timestamptz NOT NULL DEFAULT now(); -- by our clock: a stamp is what a member says
UPDATE message SET client_id = id, (member, stamp) = (
    SELECT c.key::int, c.value::bigint FROM jsonb_each_text(claims) c
    ORDER BY c.value::bigint, c.key::int LIMIT 1
);

-- Whose words the title and the branch of a session of several members are is not known.
CREATE TEMPORARY TABLE owned ON COMMIT DROP AS
    SELECT session, member, max(stamp) AS stamp, max(retracted) AS retracted,
        count(*) OVER (PARTITION BY session) > 1 AS of_several
    FROM (
        SELECT session, member, stamp, 0 AS retracted FROM message
        UNION ALL SELECT session, member, 0, stamp FROM session_retraction
    ) every GROUP BY session, member;
INSERT INTO session (project, member, host, ident, branch, title, stamp, retracted)
SELECT s.project, o.member, s.host, s.ident, CASE WHEN o.of_several THEN '' ELSE s.branch END,
    CASE WHEN o.of_several THEN '' ELSE s.title END,
    CASE WHEN o.of_several THEN 0 ELSE s.stamp END, o.retracted
FROM owned o JOIN session s ON s.id = o.session ORDER BY o.session, o.member;
DROP TABLE session_retraction;

INSERT INTO change (project, gone, many, ids, ats)
SELECT project, true, -count(*), array_agg(id), array_agg(at)
FROM message GROUP BY project, date_trunc('month', at);
UPDATE message m SET id = md5(m.member || ':' || m.client_id)::uuid, session = n.id
FROM session o JOIN session n USING (project, host, ident)
WHERE o.id = m.session AND o.member IS NULL AND n.member = m.member;
INSERT INTO change (project, gone, many, ids, ats)
SELECT project, false, count(*), array_agg(id), array_agg(at)
FROM message GROUP BY project, date_trunc('month', at);
DELETE FROM session WHERE member IS NULL;

ALTER TABLE session ALTER member SET NOT NULL;
ALTER TABLE message ALTER member SET NOT NULL, ALTER stamp SET NOT NULL,
    ALTER client_id SET NOT NULL, DROP claims;
CREATE INDEX message_client ON message (client_id);

-- Months beyond those that have a partition (see `is_recent`) are put with the rest.
DO $$
DECLARE
    parent text;
    part text;
BEGIN
    IF to_regclass('vector') IS NOT NULL THEN
        UPDATE vector v SET id = m.id FROM message m
        WHERE v.project = m.project AND v.at = m.at AND v.id = m.client_id;
    END IF;
    FOR parent, part IN
        SELECT i.inhparent::regclass::text, c.relname
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('message'::regclass, to_regclass('vector'))
        AND c.relname ~ '_[0-9]{6}$'
        AND to_date(right(c.relname, 6), 'YYYYMM') NOT BETWEEN
            date_trunc('month', now() AT TIME ZONE 'UTC' - interval '5 years')
            AND date_trunc('month', now() AT TIME ZONE 'UTC' + interval '1 month')
        ORDER BY 1, 2
    LOOP
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, part);
        EXECUTE format('INSERT INTO %I SELECT * FROM %I', parent, part);
        EXECUTE format('DROP TABLE %I', part);
    END LOOP;
END $$;
