"""Runs a function for the workers of a cluster: all of them from one client, or one of them in each process."""

from __future__ import annotations

import copy
import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import internals
from everflow.api import internal, public
from everflow.distribute.cluster_spec import ClusterSpec
from everflow.distribute.cluster_workers import collective_leader, is_chief, normalize_cluster_spec
from everflow.distribute.worker_context import CURRENT
from everflow.platform import logging
from everflow.train.coordinator import Coordinator
from everflow.train.monitored_session import ChiefSessionCreator, WorkerSessionCreator

COORDINATOR = "distribute.distribute_coordinator."
# Programs put functions of their own in this module's place.
HERE: Any = internals.module("python.distribute.distribute_coordinator")


@internal(COORDINATOR + "_TaskType")
class TaskType:
    """The kinds of tasks."""

    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"
    CLIENT = "client"


@internal(COORDINATOR + "CoordinatorMode")
class CoordinatorMode:
    """Whether one client drives servers that are running, or every task runs the program."""

    STANDALONE_CLIENT = "standalone_client"
    INDEPENDENT_WORKER = "independent_worker"


@internal(COORDINATOR + "_Barrier")
class Barrier:
    """Where threads wait for each other, again and again."""

    def __init__(self, num_participants: int) -> None:
        self._barrier = threading.Barrier(num_participants)

    def wait(self) -> None:
        """Returns when all are here."""
        self._barrier.wait()


def worker_total(cluster_spec: ClusterSpec | None) -> int:
    """How many tasks train."""
    if not cluster_spec:
        return 0
    jobs = cluster_spec.as_dict()
    return len(jobs.get(TaskType.WORKER, ())) + len(jobs.get(TaskType.CHIEF, ()))


@internal(COORDINATOR + "_WorkerContext")
class WorkerContext:
    """What a worker knows of itself: who it is, where its session runs, and whether it initializes and saves."""

    def __init__(
        self,
        strategy: Any,
        cluster_spec: ClusterSpec | None,
        task_type: str | None,
        task_id: int | None,
        session_config: Any = None,
        rpc_layer: str | None = "grpc",
        worker_barrier: Any = None,
    ) -> None:
        self._strategy = strategy
        self._cluster_spec = cluster_spec
        self._task_type, self._task_id = task_type, task_id
        self._session_config = session_config
        self._rpc_layer = rpc_layer
        self._worker_barrier = worker_barrier
        self._num_workers = worker_total(cluster_spec)
        self._master_target = self._found_target()
        self._is_chief_node = self._leads()

    def _shown(self) -> str:
        if self._cluster_spec:
            return f"[cluster_spec: {self._cluster_spec}, task_type: {self._task_type!r}, task_id: {self.task_id!r}]"
        return "[local]"

    def __enter__(self) -> Any:
        if CURRENT.worker is not None:
            raise ValueError("You cannot run distribute coordinator in a `worker_fn`.\t" + self._shown())
        CURRENT.worker = self
        return self

    def __exit__(self, *_: Any) -> None:
        CURRENT.worker = None

    def _found_target(self) -> str:
        """The master of this worker's session; that of all where one client builds one graph."""
        if not self._cluster_spec or self._task_type == TaskType.EVALUATOR and self._cluster_spec.as_dict().get(TaskType.EVALUATOR) is None:
            return ""
        job, index = self._task_type, self._task_id
        if job is None:
            job, index = (TaskType.CHIEF if TaskType.CHIEF in self._cluster_spec.jobs else TaskType.WORKER), 0
        address = self._cluster_spec.task_address(job, index or 0)
        return f"{self._rpc_layer}://{address}" if self._rpc_layer else address

    def _leads(self) -> bool:
        if not self._cluster_spec or self._task_type in (None, TaskType.CHIEF, TaskType.EVALUATOR):
            return True
        return is_chief(self._cluster_spec, self._task_type, self._task_id)

    def wait_for_other_workers(self) -> Any:
        """Waits for the others, where one client runs all."""
        if self._worker_barrier is None:
            return None
        return self._worker_barrier.wait()

    def session_creator(
        self,
        scaffold: Any = None,
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        max_wait_secs: int = 7200,
    ) -> Any:
        """What makes this worker's session: one that initializes, or one that waits."""
        if config:
            session_config = copy.deepcopy(config)
            session_config.MergeFrom(self._session_config)
        else:
            session_config = self._session_config
        if not self._strategy or self._strategy.extended.experimental_should_init:
            logging.info("Creating chief session creator with config: %r", config)
            return ChiefSessionCreator(
                scaffold,
                master=self.master_target,
                config=session_config,
                checkpoint_dir=checkpoint_dir,
                checkpoint_filename_with_path=checkpoint_filename_with_path,
            )
        logging.info("Creating worker session creator with config: %r", config)
        return WorkerSessionCreator(scaffold, master=self.master_target, config=session_config, max_wait_secs=max_wait_secs)

    session_config = property(lambda self: copy.deepcopy(self._session_config))
    has_barrier = property(lambda self: self._worker_barrier is not None)
    cluster_spec = property(lambda self: copy.deepcopy(self._cluster_spec))
    task_type = property(lambda self: self._task_type)
    task_id = property(lambda self: self._task_id)
    master_target = property(lambda self: self._master_target)
    is_chief = property(lambda self: self._is_chief_node)
    num_workers = property(lambda self: self._num_workers)
    experimental_should_init = property(lambda self: self._strategy.extended.experimental_should_init)
    should_checkpoint = property(lambda self: self._strategy.extended.should_checkpoint)
    should_save_summary = property(lambda self: self._strategy.extended.should_save_summary)

    @property
    def distributed_mode(self) -> bool:
        """Whether several tasks train."""
        return bool(self._cluster_spec) and self._task_type != TaskType.EVALUATOR


def _run_worker(
    worker_fn: Callable[[Any], Any],
    strategy: Any,
    cluster_spec: ClusterSpec | None,
    task_type: str | None,
    task_id: int | None,
    session_config: Any,
    rpc_layer: str | None = "",
    worker_barrier: Any = None,
    coord: Any = None,
) -> Any:
    """One worker, in a graph of its own, with a strategy of its own."""
    session_config = copy.deepcopy(session_config)
    strategy = copy.deepcopy(strategy)
    if task_type == TaskType.EVALUATOR:
        # An evaluator is a machine by itself.
        if strategy:
            strategy.configure(session_config)
    elif strategy:
        strategy.configure(session_config, cluster_spec, task_type, task_id)
    context = WorkerContext(strategy, cluster_spec, task_type, task_id, session_config, rpc_layer, worker_barrier)
    with context:
        if coord is None:
            return worker_fn(strategy)
        with coord.stop_on_exception():
            return worker_fn(strategy)


def _evaluator_thread(eval_fn: Any, eval_strategy: Any, cluster_spec: ClusterSpec, session_config: Any, rpc_layer: Any, coord: Any) -> Any:
    if TaskType.EVALUATOR not in cluster_spec.jobs:
        return None
    return _started(_run_worker, eval_fn, eval_strategy, cluster_spec, TaskType.EVALUATOR, 0, session_config, rpc_layer, None, coord)


def _started(target: Any, *args: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=args, daemon=True)
    thread.start()
    return thread


def _run_between_graph_client(
    worker_fn: Any, strategy: Any, eval_fn: Any, eval_strategy: Any, cluster_spec: ClusterSpec, session_config: Any, rpc_layer: Any
) -> None:
    """A thread for each worker, each with a graph of its own."""
    coord = Coordinator()
    barrier = Barrier(worker_total(cluster_spec))
    jobs = cluster_spec.as_dict()
    threads = [
        _started(_run_worker, worker_fn, strategy, cluster_spec, job, i, session_config, rpc_layer, barrier, coord)
        for job in (TaskType.CHIEF, TaskType.WORKER)
        for i in range(len(jobs.get(job, ())))
    ]
    evaluator = _evaluator_thread(eval_fn, eval_strategy, cluster_spec, session_config, rpc_layer, coord)
    coord.join([*threads, *([evaluator] if evaluator else [])])


def _run_in_graph_client(
    worker_fn: Any, strategy: Any, eval_fn: Any, eval_strategy: Any, cluster_spec: ClusterSpec, session_config: Any, rpc_layer: Any
) -> None:
    """One graph for all workers."""
    coord = Coordinator()
    evaluator = _evaluator_thread(eval_fn, eval_strategy, cluster_spec, session_config, rpc_layer, coord)
    worker = _started(_run_worker, worker_fn, strategy, cluster_spec, None, None, session_config, rpc_layer, None, coord)
    coord.join([worker, *([evaluator] if evaluator else [])])


def _configured_for_servers(
    strategy: Any, eval_strategy: Any, session_config: Any, cluster_spec: ClusterSpec, task_type: str | None, task_id: int | None
) -> None:
    """Tells the strategy of the session that servers are started with."""
    if task_type == TaskType.EVALUATOR:
        if eval_strategy:
            eval_strategy.configure(session_config=session_config)
    elif strategy:
        # The strategy of the worker is a copy that is configured later.
        copy.deepcopy(strategy).configure(session_config=session_config, cluster_spec=cluster_spec, task_type=task_type, task_id=task_id)
    # A server serves sessions of other strategies too: what each may see is said by the session.
    del session_config.device_filters[:]


class _SleepingServer:
    """Stands for a server that something else runs."""

    def start(self) -> None:
        """Nothing to start."""

    def join(self) -> None:
        """Waits until the process is ended."""
        while True:
            time.sleep(1 << 31)


_servers = internal(COORDINATOR + "_thread_local")(threading.local())


@internal(COORDINATOR + "_run_std_server")
def run_std_server(
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: Any = None,
    rpc_layer: str | None = None,
    environment: str | None = None,
) -> Any:
    """Starts this task's server; in a thread that has one, that one."""
    held = HERE._thread_local
    if getattr(held, "server", None) is not None:
        if held.cluster_spec.as_dict() != cluster_spec.as_dict() or held.task != (task_type, task_id):
            raise AssertionError("a thread runs the server of one task")
        return held.server
    held.server_started = True
    held.cluster_spec, held.task = cluster_spec, (task_type, task_id)
    if environment == "google":
        server: Any = _SleepingServer()
    else:
        logging.info("Starting standard TensorFlow server, target = %r, session_config= %r", cluster_spec.as_dict(), session_config)
        server = tf.train.Server(
            cluster_spec, job_name=task_type, task_index=task_id, config=session_config, protocol=rpc_layer or "grpc", start=False
        )
        server.start()
    held.server = server
    return server


@public("contrib.distribute.run_standard_tensorflow_server")
def run_standard_tensorflow_server(session_config: Any = None) -> Any:
    """Starts the server of the task that TF_CONFIG names, and returns it."""
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if "cluster" not in config:
        raise ValueError('"cluster" is not found in TF_CONFIG.')
    cluster_spec = normalize_cluster_spec(config["cluster"])
    if "task" not in config:
        raise ValueError('"task" is not found in TF_CONFIG.')
    task = config["task"]
    if "type" not in task:
        raise ValueError('"task_type" is not found in the `task` part of TF_CONFIG.')
    task_type, task_id = task["type"], int(task.get("index", 0))
    rpc_layer = config.get("rpc_layer", "grpc")
    session_config = tf.ConfigProto() if session_config is None else session_config
    session_config.experimental.collective_group_leader = collective_leader(cluster_spec, task_type, task_id)
    server = HERE._run_std_server(
        cluster_spec=cluster_spec, task_type=task_type, task_id=task_id, session_config=session_config, rpc_layer=rpc_layer
    )
    server.start()
    return server


@internal(COORDINATOR + "run_distribute_coordinator")
def run_distribute_coordinator(
    worker_fn: Any,
    strategy: Any,
    eval_fn: Any = None,
    eval_strategy: Any = None,
    mode: str = CoordinatorMode.STANDALONE_CLIENT,
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: Any = None,
    rpc_layer: str | None = "grpc",
) -> Any:
    """Runs `worker_fn(strategy)` for the workers of a cluster, and `eval_fn` for its evaluator.

    Without a cluster it runs here. A standalone client runs all workers against servers that are there; an independent worker starts
    its own server, and trains if its task is one that trains.
    """
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if not cluster_spec:
        cluster_spec = config.get("cluster", {})
        task = config.get("task", {})
        if task:
            task_type, task_id = task.get("type", task_type), int(task.get("index", task_id or 0))
    if cluster_spec:
        cluster_spec = normalize_cluster_spec(cluster_spec)
    rpc_layer = config.get("rpc_layer", rpc_layer)
    environment = config.get("environment")
    eval_fn = eval_fn or worker_fn
    if not eval_strategy:
        logging.warning("`eval_strategy` is not passed in. No distribution strategy will be used for evaluation.")
    session_config = session_config or tf.ConfigProto(allow_soft_placement=True)

    if not cluster_spec:
        _run_worker(worker_fn, strategy, None, None, None, session_config, rpc_layer)
        return None
    if mode == CoordinatorMode.STANDALONE_CLIENT:
        run = _run_between_graph_client if strategy.extended.experimental_between_graph else _run_in_graph_client
        run(worker_fn, strategy, eval_fn, eval_strategy, cluster_spec, session_config, rpc_layer)
        return None
    if mode != CoordinatorMode.INDEPENDENT_WORKER:
        raise ValueError(f"Unexpected coordinator mode: {mode!r}")
    return _run_independently(
        worker_fn, strategy, eval_fn, eval_strategy, cluster_spec, task_type, task_id, session_config, rpc_layer, environment
    )


def _run_independently(
    worker_fn: Any,
    strategy: Any,
    eval_fn: Any,
    eval_strategy: Any,
    cluster_spec: ClusterSpec,
    task_type: str | None,
    task_id: int | None,
    session_config: Any,
    rpc_layer: str | None,
    environment: str | None,
) -> Any:
    _configured_for_servers(strategy, eval_strategy, session_config, cluster_spec, task_type, task_id)
    server = HERE._run_std_server(
        cluster_spec=cluster_spec,
        task_type=task_type,
        task_id=task_id,
        session_config=session_config,
        rpc_layer=rpc_layer,
        environment=environment,
    )
    if task_type == TaskType.EVALUATOR:
        return _run_worker(eval_fn, eval_strategy, cluster_spec, task_type, task_id, session_config, rpc_layer)
    if task_type in (TaskType.CHIEF, TaskType.WORKER):
        if strategy.extended.experimental_between_graph:
            return _run_worker(worker_fn, strategy, cluster_spec, task_type, task_id, session_config, rpc_layer)
        if is_chief(cluster_spec, task_type, task_id):
            # One graph drives all workers; the others only serve.
            return _run_worker(worker_fn, strategy, cluster_spec, None, None, session_config, rpc_layer)
        return server.join()
    if task_type == TaskType.PS:
        return server.join()
    raise ValueError(f"Unexpected task_type: {task_type!r}")
