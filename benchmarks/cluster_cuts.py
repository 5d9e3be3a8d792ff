"""Trains while the network between a worker and its parameter server is cut at random.

    python benchmarks/cluster_cuts.py [--steps 1000] [--every 50] [--seed 0]

Each time that training has made so many steps, the link is cut for a second or so, silently (packets are lost) or loudly (connections are
ended), and heals. It says how long training took to go on after each kind of cut; in the end the step and the loss have to be right.
Exits with 1 where they are not.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = str(pathlib.Path(__file__).parents[1])
sys.path.insert(0, ROOT)

from cluster_kills import PROGRAM  # noqa: E402

from everflow.platform.ports import free_ports  # noqa: E402
from everflow.test.network import Link  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--every", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    ps, worker = (f"localhost:{port}" for port in free_ports(2))
    link = Link(ps)
    pauses: dict[str, list[float]] = {"silent": [], "loud": []}
    best, made, loss = 0, 0, float("inf")
    healed, kind, is_cut = 0.0, "", False
    with tempfile.TemporaryDirectory() as folder:

        def start(job: str, server: str) -> subprocess.Popen[str]:
            return subprocess.Popen(
                [sys.executable, "-c", PROGRAM, job, "0", server, worker, folder, str(asked.steps)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1"},
            )

        def heal() -> None:
            nonlocal healed
            link.heal()
            healed = time.monotonic()

        server, trainer = start("ps", ps), start("worker", link.address)
        try:
            for line in trainer.stdout or ():
                found = re.match(r"step (\d+) loss (\S+)", line)
                if not found:
                    continue
                if healed:
                    pauses[kind].append(time.monotonic() - healed)
                    healed, is_cut = 0.0, False
                best, loss, made = max(best, int(found.group(1))), float(found.group(2)), made + 1
                if made >= asked.every and best < asked.steps - 1 and not is_cut:
                    made, kind, is_cut = 0, chance.choice(sorted(pauses)), True
                    link.cut(is_loud=kind == "loud")
                    threading.Timer(chance.uniform(0.2, 2.0), heal).start()
            is_over = trainer.wait() == 0
        finally:
            link.close()
            for process in (server, trainer):
                process.kill()
    for name, times in pauses.items():
        if times:
            print(f"{len(times)} {name} cuts: training went on after {statistics.median(times):.2f} s (median), {max(times):.2f} s at most")
    print(f"last step {best}, loss {loss:.2g}")
    return 0 if is_over and best >= asked.steps - 1 and loss < 1e-3 else 1


if __name__ == "__main__":
    sys.exit(main())
