"""Floor 6: facts, static entries and the session graph, each as a kind of memory."""
