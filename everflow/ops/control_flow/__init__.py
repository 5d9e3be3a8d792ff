"""Order, branches, loops and calls of functions: as functions, and as the frames of version 1 graphs."""
