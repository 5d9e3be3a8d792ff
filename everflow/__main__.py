"""`python -m everflow` is the `everflow` command."""
import sys

from everflow.cli.main import main

sys.exit(main())
