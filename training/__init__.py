"""How the bundled embedding model is trained."""
