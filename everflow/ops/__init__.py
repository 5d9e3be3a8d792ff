"""What each op means, a module a family."""
