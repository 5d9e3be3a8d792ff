"""What all timed programs share, whatever they compute with: the cases by name, the time of a call, and made-up batches."""

import os
import time

import numpy as np

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def timed(run, seconds=3.0, warm=3, least=5):
    """The time of one call: the median of as many as fit into a few seconds, or into the share of them that is asked for."""
    seconds *= float(os.environ.get("BENCH_SHARE", "1"))
    for _ in range(warm):
        run()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        t = time.perf_counter()
        run()
        times.append(time.perf_counter() - t)
    return float(np.median(times))


def batch(n, shape, classes=10):
    rng = np.random.RandomState(0)
    return rng.rand(n, *shape).astype(np.float32), rng.randint(0, classes, n).astype(np.int64)
