"""TensorFlow 1.15, as Everflow has it. Processes that a program starts find it by PYTHONPATH; `everflow alias install` copies this file to
where Python finds `tensorflow` of itself."""

import importlib
import os
import sys

try:
    import everflow.as_tensorflow  # noqa: F401
except ModuleNotFoundError as error:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if (error.name or "").partition(".")[0] != "everflow" or os.path.basename(folder) != "children":
        raise
    # Another Python than the program's, which may have a TensorFlow of its own.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    del sys.modules[__name__]
    importlib.invalidate_caches()
    importlib.import_module(__name__)
