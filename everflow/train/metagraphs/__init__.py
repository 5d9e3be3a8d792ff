"""MetaGraphs: a graph with its collections and how to restore its variables, as a file."""
