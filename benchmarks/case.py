"""`python case.py MODULE NAME` times one case of cases/MODULE.py: prints {"case": NAME, "seconds": time of one iteration} as JSON."""

import importlib
import json
import sys

from timing import CASES, tf

if __name__ == "__main__":
    module, name = sys.argv[1:]
    importlib.import_module("cases." + module)
    if tf.executing_eagerly():
        seconds = CASES[name]()
    else:
        with tf.Graph().as_default():
            seconds = CASES[name]()
    print(json.dumps({"case": name, "seconds": seconds}), flush=True)
