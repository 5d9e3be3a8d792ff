"""What each op means: a room for each topic that users know, a module for each family of ops in it."""
