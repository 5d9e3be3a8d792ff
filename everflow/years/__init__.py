"""The years between: what Python, numpy and others removed since 2019 is there again where TensorFlow 1 programs run.

Nothing of this happens with plain `import everflow`. A library's shims are in the module here that bears its name; they are put in
place when the library is imported, and none of them changes what works today. docs/years.md lists them.
"""

from __future__ import annotations

import os
import sys

from everflow.years import python, reporting, shims  # noqa: F401
from everflow.years.finders import Missing, Present

# "off" leaves the libraries as they are; "report" tells at the end what was used. Processes that a program starts inherit it.
SWITCH = "EVERFLOW_YEARS"


def installed() -> bool:
    return any(isinstance(finder, Present) for finder in sys.meta_path)


def install() -> None:
    """Puts shims into libraries that are imported, and into others when they are."""
    choice = os.environ.get(SWITCH, "")
    if choice == "off" or installed():
        return
    if choice == "report":
        reporting.start()
    sys.meta_path.insert(0, Present())
    # After all others: what it has is only for those who find nothing.
    sys.meta_path.append(Missing())
    shims.mend_all()


def remove() -> None:
    """Leaves every library as it was before install()."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, (Present, Missing))]
    shims.undo()
