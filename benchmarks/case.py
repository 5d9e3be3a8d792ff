"""`python case.py MODULE NAME` times one case of cases/MODULE.py and prints, as JSON, {"case": NAME, "seconds": time of one iteration,
"bytes": how much memory was resident at most, above what a session without work needs}."""

import importlib
import json
import resource
import sys

from timing import CASES, tf


def resident():
    """The bytes that this process has in memory."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    module, name = sys.argv[1:]
    if tf.executing_eagerly():
        tf.constant(1.0) + 1.0
    else:
        with tf.Graph().as_default(), tf.Session() as sess:
            sess.run(tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])))
    before = resident()
    importlib.import_module("cases." + module)
    if tf.executing_eagerly():
        seconds = CASES[name]()
    else:
        with tf.Graph().as_default():
            seconds = CASES[name]()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"case": name, "seconds": seconds, "bytes": peak - before}), flush=True)
