"""A program as the tasks of a cluster: each a process, told by TF_CONFIG who it is."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading

from everflow.platform.ports import free_ports

ROOT = str(pathlib.Path(__file__).parents[2])


def run_tasks(program, *arguments, seconds=240, **jobs):
    """What each task that trains printed, by its name ("worker 0"). Parameter servers are ended when all others are.

    run_tasks(PROGRAM, folder, ps=1, worker=2)
    """
    free = iter(free_ports(sum(jobs.values())))
    cluster = {job: [f"localhost:{next(free)}" for _ in range(count)] for job, count in jobs.items()}
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
        # A task that fails ends the others, which would wait for it.
        ends: dict[str, tuple[str, str]] = {}
        threads = [threading.Thread(target=_watch, args=(name, running, ends)) for name in running]
        for thread in threads:
            thread.start()
        for name, thread in zip(running, threads):
            if not name.startswith("ps "):
                thread.join(seconds)
        failed = {name: ends[name][1] for name, process in running.items() if process.poll() not in (None, -signal.SIGKILL, 0)}
        assert not failed, "".join(f"{name}: {err}" for name, err in failed.items())
        late = [name for name, process in running.items() if process.poll() is None and not name.startswith("ps ")]
        assert not late, f"{late} did not end within {seconds} seconds"
        return {name: out for name, (out, _) in sorted(ends.items()) if not name.startswith("ps ")}
    finally:
        for process in running.values():
            process.kill()


def _watch(name, running, ends):
    ends[name] = running[name].communicate()
    if running[name].returncode not in (0, -signal.SIGKILL):
        for process in running.values():
            process.kill()
