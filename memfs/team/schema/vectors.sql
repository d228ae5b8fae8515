-- Vectors of what people and assistants said, where the database has pgvector. One narrow table,
-- in the order of projects: a search reads those of a project alone, and there is no index of all.
CREATE TABLE IF NOT EXISTS vector (
    project int NOT NULL,
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    value halfvec(256) NOT NULL,
    PRIMARY KEY (project, at, id)
) PARTITION BY RANGE (at);
CREATE TABLE IF NOT EXISTS vector_rest PARTITION OF vector DEFAULT;
