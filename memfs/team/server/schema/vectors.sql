-- Vectors of what people and assistants said, where the database has pgvector. One narrow table,
-- in the order of projects: a search reads those of a project alone, and there is no index of all.
CREATE TABLE IF NOT EXISTS vector (
    project int NOT NULL,
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    value halfvec(256) NOT NULL,
    PRIMARY KEY (project, at, id)
) PARTITION BY HASH (project);
DO $$ BEGIN
    FOR part IN 0..15 LOOP
        EXECUTE format('CREATE TABLE IF NOT EXISTS vector_%s PARTITION OF vector
            FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
    END LOOP;
    IF to_regclass('old_vector') IS NOT NULL THEN -- of version 1
        INSERT INTO vector SELECT v.project, v.at, m.id, v.value FROM old_vector v
        JOIN message m ON (m.project, m.at, m.client_id) = (v.project, v.at, v.id);
        DROP TABLE old_vector;
    END IF;
END $$;
