"""`python translated.py MODULE NAME` times a case's translation to PyTorch, as case.py times the case itself; without one it says null."""

import importlib.util
import json
import sys

from measuring import CASES

if __name__ == "__main__":
    module, name = sys.argv[1:]
    if importlib.util.find_spec("translations." + module) is not None:
        importlib.import_module("translations." + module)
    print(json.dumps({"case": name, "seconds": CASES[name]() if name in CASES else None}), flush=True)
