"""The changes that TransformGraph makes, family by family; each is a function of a graph and of what it was told."""
