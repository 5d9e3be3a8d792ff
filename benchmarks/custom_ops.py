"""What a custom op costs beyond its own work.

    python benchmarks/custom_ops.py [--calls 2000]

A step with one op over a million numbers, less the time of the loop inside; and steps with fifty trivial ops, ours against built-in
ones that are one call of torch each. The best of many counts. The ops are compiled first, with g++ -O3.
"""

import argparse
import ctypes
import pathlib
import subprocess
import tempfile
import time

import numpy as np

import everflow as tf

HERE = pathlib.Path(__file__).resolve().parent
LENGTH = 50


def library(folder):
    """The ops, compiled."""
    path = pathlib.Path(folder, "custom_ops.so")
    flags = [*tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags(), "-O3", "-DNDEBUG", "-DEVERFLOW_NO_EIGEN"]
    subprocess.run(["g++", "-std=c++11", "-shared", "-fPIC", str(HERE / "custom_ops.cc"), "-o", str(path), *flags], check=True)
    return path


def best(run, calls):
    """The shortest of many calls, in microseconds."""
    found = []
    for _ in range(calls):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found) * 1e6


def large(ops, take_seconds, calls):
    """The microseconds of a step with one op over a million numbers beyond those of its loop, and those: medians."""
    take_seconds.restype = ctypes.c_double
    pairs = []
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.Variable(np.arange(1_000_000, dtype=np.float32))
        session.run(x.initializer)
        step = session.make_callable(ops.timed_scale(x).op)
        for _ in range(calls):
            take_seconds()
            start = time.perf_counter()
            step()
            whole = time.perf_counter() - start
            pairs.append((whole * 1e6, take_seconds() * 1e6))
    return np.median([whole - loop for whole, loop in pairs]), np.median([loop for _, loop in pairs])


def small(function, calls):
    """The microseconds of one of fifty ops in a step."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = y = tf.placeholder(tf.float32, [1])
        for _ in range(LENGTH):
            y = function(y)
        step = session.make_callable(y, [x])
        return best(lambda: step(np.ones(1, np.float32)), calls) / LENGTH


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder:
        path = library(folder)
        ops = tf.load_op_library(str(path))
        beyond, loop = large(ops, ctypes.CDLL(str(path)).take_seconds, calls)
        print(f"a million numbers: {beyond:6.1f} us beyond a loop of {loop:.0f} us (a whole step)")
        ours, built_in = small(ops.plus_one, calls), small(tf.cumsum, calls)
        print(f"a trivial op:      {ours:6.2f} us, a built-in one {built_in:.2f} us: {ours - built_in:+.2f} us")


if __name__ == "__main__":
    main()
