"""A program as the tasks of a cluster: each a process, told by TF_CONFIG who it is."""

import json
import os
import pathlib
import subprocess
import sys

from everflow.test.cluster import unused_port

ROOT = str(pathlib.Path(__file__).parents[2])


def run_tasks(program, *arguments, seconds=240, **jobs):
    """What each task that trains printed, by its name ("worker 0"). Parameter servers are ended when all others are.

    run_tasks(PROGRAM, folder, ps=1, worker=2)
    """
    cluster = {job: [f"localhost:{unused_port()}" for _ in range(count)] for job, count in jobs.items()}
    running = {}
    try:
        for job, addresses in cluster.items():
            for index in range(len(addresses)):
                config = json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})
                known = {"TF_CONFIG": config, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1", "EVERFLOW_COLLECTIVE_TIMEOUT": str(seconds)}
                running[f"{job} {index}"] = subprocess.Popen(
                    [sys.executable, "-c", program, *map(str, arguments)],
                    env={**os.environ, **known},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
        printed = {}
        for name, process in running.items():
            if not name.startswith("ps "):
                printed[name], err = process.communicate(timeout=seconds)
                assert process.returncode == 0, f"{name}: {err}"
        return printed
    finally:
        for process in running.values():
            process.kill()
            process.communicate()
