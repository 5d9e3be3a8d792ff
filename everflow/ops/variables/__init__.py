"""Variables: kinds, scopes, initializers, assignments, and the steps of optimizers."""
