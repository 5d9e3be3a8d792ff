"""Steps a second of one session that 1, 2 and 8 Python threads run at once: `python benchmarks/threads.py [--peer PYTHON] [--rounds 3]`.

PYTHON has TensorFlow. Three layers of 256 units, one row at a time and 64 at a time. Each implementation runs in a process of its own, in
turns, and the best round of each count of threads is shown.
"""

import argparse
import json
import subprocess
import sys
import threading
import time

SECONDS = 1.0
THREADS = (1, 2, 8)
BATCHES = (1, 64)


def rates():
    """Steps a second, for each batch and count of threads."""
    import numpy as np
    from timing import dense, session, tf

    x = tf.placeholder(tf.float32, [None, 256])
    y = x
    for i in range(3):
        y = tf.nn.relu(dense(y, 256, 256, f"layer{i}"))
    sess = session()
    return [[rate(sess, y, {x: np.ones((batch, 256), np.float32)}, count) for count in THREADS] for batch in BATCHES]


def rate(sess, fetch, feeds, count):
    for _ in range(100):
        sess.run(fetch, feeds)
    done = [0] * count
    begin = time.perf_counter()

    def work(i):
        while time.perf_counter() - begin < SECONDS:
            sess.run(fetch, feeds)
            done[i] += 1

    workers = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / (time.perf_counter() - begin)


def measure(command):
    done = subprocess.run([*command, __file__, "--once"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", help="a Python that has TensorFlow")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.once:
        print(json.dumps(rates()))
        return
    commands = {"everflow": [sys.executable, "-m", "everflow", "run"], **({"peer": [args.peer]} if args.peer else {})}
    found = {name: [] for name in commands}
    for _ in range(args.rounds):
        for name, command in commands.items():
            found[name].append(measure(command))
    print("".ljust(20) + "".join(f"{count} threads".rjust(12) for count in THREADS))
    for name, rounds in found.items():
        for k, batch in enumerate(BATCHES):
            best = [max(found[k][i] for found in rounds) for i in range(len(THREADS))]
            print(f"{name}, batch {batch}".ljust(20) + "".join(f"{steps:,.0f}".rjust(12) for steps in best))


if __name__ == "__main__":
    main()
