"""The embedding model that ships with memfs, its card and its trainer."""
