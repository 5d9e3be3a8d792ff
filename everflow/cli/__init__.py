"""The `everflow` command: a module a subcommand."""
