"""How long the smallest program takes from its start to its end: `python benchmarks/startup.py tf1=/path/to/python --rounds 15`.

Each round runs it once with Everflow and once with each peer, a TensorFlow interpreter, so that all see the same machine.
Processor time is that of all threads; on a machine that others use too, it says more than the wall's.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAM = """
import tensorflow as tf
tf = tf.compat.v1 if not tf.__version__.startswith("1.") else tf
with tf.Graph().as_default(), tf.Session() as sess:
    assert sess.run(tf.constant(1.0) + 2.0) == 3
"""


def seconds(command: list[str]) -> tuple[float, float]:
    """The wall time and the processor time of a command."""
    # Without compiled files, which some environments forbid, it would be their compiler that is timed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment, stderr=subprocess.DEVNULL, check=True)
    wall, now = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers", nargs="*", metavar="NAME=PYTHON")
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "hello.py")
        script.write_text(PROGRAM)
        commands = {"everflow": [sys.executable, "-m", "everflow", "run", str(script)]}
        commands |= {name: [python, str(script)] for name, _, python in (peer.partition("=") for peer in asked.peers)}
        for command in commands.values():
            seconds(command)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(asked.rounds):
            for name, command in commands.items():
                times[name].append(seconds(command))
    ours = [statistics.median(column) for column in zip(*times["everflow"], strict=True)]
    for name, rows in times.items():
        wall, processor = (statistics.median(column) for column in zip(*rows, strict=True))
        ratio = f"  ours is {ours[0] / wall:.2f} of it, {ours[1] / processor:.2f} by processor time" if name != "everflow" else ""
        print(f"{name:<10} {wall:6.3f} s wall  {processor:6.3f} s processor{ratio}")


if __name__ == "__main__":
    main()
