"""Times MultiWorkerMirroredStrategy with two processes against torch's DistributedDataParallel: the same network, batch and machine.

    python benchmarks/multi_worker.py [--steps 200] [--batch 256] [--rounds 3]

Each process has one thread. The global batch is shared out between the two; a step is forward, backward, all-reduce over Gloo and plain
gradient descent. Prints steps per second of each, the best and the median of some rounds that take turns, and the processors' time of a
step, which others on the machine disturb least; and the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from everflow.platform.ports import free_ports

SIZES = (784, 512, 512, 10)
WARMUP = 20


def measured(step: Callable[[], object], steps: int) -> tuple[float, float]:
    """Steps per second, and the processor's seconds per step."""
    start, used = time.perf_counter(), time.process_time()
    for _ in range(steps):
        step()
    return steps / (time.perf_counter() - start), (time.process_time() - used) / steps


def ours(rank: int, batch: int, steps: int) -> tuple[float, float]:
    import numpy as np

    import everflow as tf

    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    random = np.random.RandomState(rank)
    x, y = random.rand(batch // 2, SIZES[0]).astype(np.float32), random.randint(SIZES[-1], size=batch // 2)
    pictures, labels = tf.placeholder(tf.float32, x.shape), tf.placeholder(tf.int64, y.shape)
    optimizer = tf.train.GradientDescentOptimizer(0.01)

    def step():
        found = pictures
        for i, size in enumerate(SIZES[1:]):
            found = tf.layers.dense(found, size, tf.nn.relu if i < len(SIZES) - 2 else None, name=f"dense_{i}")
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=found)) / 2
        return optimizer.minimize(loss)

    with strategy.scope():
        train = strategy.group(strategy.experimental_run_v2(step))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        run = session.make_callable(train, [pictures, labels])
        for _ in range(WARMUP):
            run(x, y)
        return measured(lambda: run(x, y), steps)


def torch_ddp(rank: int, batch: int, steps: int) -> tuple[float, float]:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    leader = json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"][0]
    dist.init_process_group("gloo", init_method=f"tcp://{leader}", rank=rank, world_size=2)
    layers: list[torch.nn.Module] = []
    for given, size in zip(SIZES, SIZES[1:]):
        layers += [torch.nn.Linear(given, size), torch.nn.ReLU()]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers[:-1]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.rand(batch // 2, SIZES[0]), torch.randint(SIZES[-1], (batch // 2,))

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    for _ in range(WARMUP):
        step()
    return measured(step, steps)


def timed(kind: str, batch: int, steps: int) -> tuple[float, float]:
    """Steps per second of the slower of two processes, and the processor's seconds for a step of both."""
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    processes = []
    for rank in range(2):
        config = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": rank}})
        environment = {**os.environ, "TF_CONFIG": config, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--worker", kind, "--rank", str(rank), "--batch", str(batch), "--steps", str(steps)]
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    found = []
    for process in processes:
        out, _ = process.communicate()
        if process.returncode:
            sys.exit(f"multi_worker: a worker of {kind} failed")
        found.append([float(number) for number in out.splitlines()[-1].split()])
    return min(rate for rate, _ in found), sum(used for _, used in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", choices=["ours", "torch"])
    parser.add_argument("--rank", type=int)
    given = parser.parse_args()
    if given.worker:
        print(*(ours if given.worker == "ours" else torch_ddp)(given.rank, given.batch, given.steps), flush=True)
        # Threads of Gloo that still run when a process ends now and then end it with an error.
        os._exit(0)
    found: dict[str, list[tuple[float, float]]] = {"ours": [], "torch": []}
    for _ in range(given.rounds):
        for kind, rounds in found.items():
            rounds.append(timed(kind, given.batch, given.steps))
    best = {kind: max(rate for rate, _ in rounds) for kind, rounds in found.items()}
    middle = {kind: statistics.median(rate for rate, _ in rounds) for kind, rounds in found.items()}
    used = {kind: min(used for _, used in rounds) for kind, rounds in found.items()}
    for kind, name in (("ours", "MultiWorkerMirroredStrategy"), ("torch", "torch DDP")):
        print(f"{name:<27} {best[kind]:8.1f} steps/s, median {middle[kind]:.1f}; {used[kind] * 1e3:.1f} ms of processors a step")
    print(f"ratio                       {best['ours'] / best['torch']:8.2f}, median {middle['ours'] / middle['torch']:.2f}; ", end="")
    print(f"processors {used['torch'] / used['ours']:.2f}")


if __name__ == "__main__":
    main()
