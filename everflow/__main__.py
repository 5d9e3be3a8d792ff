"""`python -m everflow` is the `everflow` command."""

import sys

from everflow.cli.main import main

status = main()
# Python stays at a prompt after `python -i`.
if not sys.flags.inspect:
    sys.exit(status)
