"""Workers of the service for tests: the real one, in a world of their own."""
