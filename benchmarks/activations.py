"""Trains a network whose activations fill a share of the machine's memory.

    everflow run benchmarks/activations.py [--share 0.6] [--steps 6]

A real TensorFlow 1.15 runs it as well. Each layer's output is kept for its gradient and for nothing else, so a step should take little more
than their sum: prints the peak of resident memory beside it, what was swapped, and the seconds of a step.
"""

import argparse
import os
import resource
import time

import numpy as np
import tensorflow as tf

UNITS = 64
LAYER_BYTES = 64 << 20


def swapped():
    """The bytes of this process that were swapped out."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmSwap"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=0.6)
    parser.add_argument("--steps", type=int, default=6)
    given = parser.parse_args()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    layers = int(given.share * memory / LAYER_BYTES)
    examples = LAYER_BYTES // 4 // UNITS
    x = tf.placeholder(tf.float32, [examples, UNITS])
    h = x
    for i in range(layers):
        w = tf.get_variable("w%d" % i, [UNITS, UNITS], initializer=tf.orthogonal_initializer())
        h = tf.tanh(tf.matmul(h, w))
    loss = tf.reduce_mean(tf.square(h))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feeds = {x: np.random.RandomState(0).randn(examples, UNITS)}
        for step in range(given.steps):
            began = time.time()
            found, _ = session.run([loss, train], feeds)
            print("step %d: loss %.6f, %.1f s" % (step, found, time.time() - began), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found = memory, layers * LAYER_BYTES, peak, swapped()
    print("memory %.1f GB, activations %.1f GB, peak %.1f GB, swapped %.1f GB" % tuple(n / 1e9 for n in found))


if __name__ == "__main__":
    main()
