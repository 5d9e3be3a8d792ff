"""MonitoredSession and its kin: sessions that initialize, recover, save and stop by themselves."""

from __future__ import annotations

import contextlib
import inspect
import os
from typing import Any

import everflow as tf
from everflow import errors
from everflow.api import internal, public
from everflow.distribute.worker_context import get_current_worker_context
from everflow.graph.keys import GraphKeys
from everflow.train.coordinator import Coordinator
from everflow.train.hooks_saving import CheckpointSaverHook, SummarySaverHook
from everflow.train.hooks_steps import StepCounterHook
from everflow.train.monitored_session_stack import CoordinatedSession, HookedSession, RecoverableSession, StepContext
from everflow.train.queue_runners import start_queue_runners
from everflow.train.scaffold import Scaffold
from everflow.train.session_manager import SessionManager

USE_DEFAULT = internal("training.monitored_session.USE_DEFAULT")(object())


@public("train.SessionCreator")
class SessionCreator:
    """Makes the session of a monitored session, again after each failure."""

    def create_session(self) -> Any:
        """A session that is ready to run."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


def _taken(scaffold: Scaffold, *names: str) -> dict[str, Any]:
    """What a scaffold has under these names, as arguments."""
    return {name: getattr(scaffold, name) for name in names}


class _ManagedSessionCreator(SessionCreator):
    """Makes sessions by a SessionManager, with the ops of a Scaffold."""

    def __init__(self, scaffold: Any, master: str, config: Any) -> None:
        self._session_manager: Any = None
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config

    def _get_session_manager(self) -> Any:
        self._scaffold.finalize()
        if self._session_manager is None:
            ops = _taken(self._scaffold, "local_init_op", "ready_op", "ready_for_local_init_op")
            self._session_manager = SessionManager(graph=tf.get_default_graph(), **ops)
        return self._session_manager


@public("train.ChiefSessionCreator")
class ChiefSessionCreator(_ManagedSessionCreator):
    """Restores the last checkpoint or initializes the model."""

    def __init__(
        self,
        scaffold: Any = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint = {"checkpoint_dir": checkpoint_dir, "checkpoint_filename_with_path": checkpoint_filename_with_path}

    def create_session(self) -> Any:
        prepare = self._get_session_manager().prepare_session
        beginnings = _taken(self._scaffold, "saver", "init_op", "init_feed_dict", "init_fn")
        return prepare(self._master, config=self._config, **self._checkpoint, **beginnings)


@public("train.WorkerSessionCreator")
class WorkerSessionCreator(_ManagedSessionCreator):
    """Waits until the chief has made the model ready."""

    def __init__(self, scaffold: Any = None, master: str = "", config: Any = None, max_wait_secs: float = 30 * 60) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Any:
        return self._get_session_manager().wait_for_session(self._master, config=self._config, max_wait_secs=self._max_wait_secs)


class _CoordinatedSessionCreator(SessionCreator):
    """Starts the queue runners and tells the hooks of each new session."""

    def __init__(self, session_creator: Any, hooks: Any, stop_grace_period_secs: float) -> None:
        self._session_creator = session_creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.forget()

    def forget(self) -> None:
        """The session is over."""
        self.coord: Any = None
        self.tf_sess: Any = None

    def create_session(self) -> CoordinatedSession:
        self.tf_sess = sess = self._session_creator.create_session()
        # The end of the input is for the program to see, so no error is a clean stop here.
        self.coord = coord = Coordinator(clean_stop_exception_types=[])
        if tf.get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess, coord)
        for hook in self._hooks:
            hook.after_create_session(sess, coord)
        return CoordinatedSession(HookedSession(sess, self._hooks), coord, self._stop_grace_period_secs)


class _MonitoredSession:
    """A session with hooks; `with` ends it, and the end of the input ends it quietly."""

    StepContext = StepContext

    def __init__(self, session_creator: Any, hooks: Any, should_recover: bool, stop_grace_period_secs: float = 120) -> None:
        self._graph_was_finalized = tf.get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedSessionCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._sess: Any = RecoverableSession(self._coordinated_creator) if should_recover else self._coordinated_creator.create_session()

    @property
    def graph(self) -> Any:
        """The graph of the session, or None after its end."""
        return None if self._tf_sess() is None else self._tf_sess().graph

    def run(self, fetches: Any, feed_dict: dict[Any, Any] | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs as `tf.Session.run` does, with the hooks around it."""
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Any) -> Any:
        """Calls a function of a `StepContext`, which may run the plain session before it runs with hooks."""
        arguments = tuple(inspect.getfullargspec(step_fn).args)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if it's an "
                f"instance method. Got {arguments} instead."
            )
        # Asked for again after a recovery, when there is another session.
        return self._sess.run_step_fn(step_fn, lambda: self._tf_sess())

    def should_stop(self) -> bool:
        """Whether the training loop shall end."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        self._close_internal()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, exception_type: Any, exception_value: Any, traceback: Any) -> bool:
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None
        self._close_internal(exception_type)
        return exception_type is None

    def _close_internal(self, exception_type: Any = None) -> None:
        """Ends the session, and the hooks unless there was an error."""
        if self._sess is None:
            raise RuntimeError("Session is already closed.")
        # Each of these is done whatever the one before it raises.
        with contextlib.ExitStack() as afterwards:
            afterwards.callback(self._forget)
            afterwards.callback(self._sess.close)
            for hook in () if exception_type else self._hooks:
                hook.end(self._tf_sess())

    def _forget(self) -> None:
        self._sess = None
        self._coordinated_creator.forget()
        if not self._graph_was_finalized:
            tf.get_default_graph()._unsafe_unfinalize()

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess


internal("training.monitored_session._MonitoredSession")(_MonitoredSession)


@public("train.MonitoredSession")
class MonitoredSession(_MonitoredSession):
    """A session with hooks that goes on from the last checkpoint when a worker is lost.

    >>> with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(100)]) as session:
    ...     while not session.should_stop():
    ...         session.run(train_op)
    """

    def __init__(self, session_creator: Any = None, hooks: Any = None, stop_grace_period_secs: float = 120) -> None:
        worker = get_current_worker_context()
        if session_creator is None and worker is not None:
            session_creator = worker.session_creator()
        super().__init__(session_creator, hooks, should_recover=True, stop_grace_period_secs=stop_grace_period_secs)


@public("train.SingularMonitoredSession")
class SingularMonitoredSession(_MonitoredSession):
    """A session with hooks that does not recover, and whose plain session one can have."""

    def __init__(
        self,
        hooks: Any = None,
        scaffold: Any = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: Any = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold=scaffold,
            master=master,
            config=config,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
        )
        super().__init__(creator, hooks, should_recover=False, stop_grace_period_secs=stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The plain session, without hooks."""
        return self._tf_sess()


def _given(value: Any) -> bool:
    return value is not USE_DEFAULT


@public("train.MonitoredTrainingSession")
def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: Any = None,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: Any = None,
) -> MonitoredSession:
    """A MonitoredSession for training: it saves checkpoints and summaries and counts steps, unless told otherwise."""
    if not _given(save_summaries_steps) and not _given(save_summaries_secs):
        save_summaries_steps, save_summaries_secs = 100, None
    if not _given(save_checkpoint_secs) and not _given(save_checkpoint_steps):
        save_checkpoint_secs, save_checkpoint_steps = 600, None
    summary_every: dict[str, Any] = {
        "save_steps": save_summaries_steps if _given(save_summaries_steps) else None,
        "save_secs": save_summaries_secs if _given(save_summaries_secs) else None,
    }
    checkpoint_every: dict[str, Any] = {
        "save_steps": save_checkpoint_steps if _given(save_checkpoint_steps) else None,
        "save_secs": save_checkpoint_secs if _given(save_checkpoint_secs) else None,
    }
    scaffold = scaffold or Scaffold()
    context = get_current_worker_context()
    if context is not None:
        return _of_worker(
            context,
            scaffold,
            checkpoint_dir,
            list(hooks or ()),
            list(chief_only_hooks or ()),
            summary_every,
            checkpoint_every,
            config,
            stop_grace_period_secs,
            log_step_count_steps,
            max_wait_secs,
            summary_dir or checkpoint_dir,
        )
    if not is_chief:
        worker = WorkerSessionCreator(scaffold=scaffold, master=master, config=config, max_wait_secs=max_wait_secs)
        return MonitoredSession(session_creator=worker, hooks=hooks or [], stop_grace_period_secs=stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or ())
    chief = ChiefSessionCreator(scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config)
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        if any(often and often > 0 for often in summary_every.values()):
            all_hooks.append(SummarySaverHook(scaffold=scaffold, output_dir=summary_dir, **summary_every))
    if checkpoint_dir and any(often and often > 0 for often in checkpoint_every.values()):
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, scaffold=scaffold, **checkpoint_every))
    all_hooks.extend(hooks or ())
    return MonitoredSession(session_creator=chief, hooks=all_hooks, stop_grace_period_secs=stop_grace_period_secs)


def _of_worker(
    context: Any,
    scaffold: Any,
    checkpoint_dir: Any,
    hooks: list[Any],
    chief_only_hooks: list[Any],
    summary_every: dict[str, Any],
    checkpoint_every: dict[str, Any],
    config: Any,
    stop_grace_period_secs: float,
    log_step_count_steps: int | None,
    max_wait_secs: float,
    summary_dir: Any,
) -> MonitoredSession:
    """The session of a worker that the coordinator runs: what it saves, its strategy says."""
    creator = context.session_creator(
        scaffold, config, checkpoint_dir if context.experimental_should_init else None, max_wait_secs=max_wait_secs
    )
    if context.should_save_summary and summary_dir:
        if log_step_count_steps and log_step_count_steps > 0:
            hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        if any(often and often > 0 for often in summary_every.values()):
            hooks.append(SummarySaverHook(scaffold=scaffold, output_dir=summary_dir, **summary_every))
    if checkpoint_dir and any(often and often > 0 for often in checkpoint_every.values()):
        if context.should_checkpoint:
            hooks.append(CheckpointSaverHook(checkpoint_dir, scaffold=scaffold, **checkpoint_every))
        elif context.experimental_should_init:
            # It has variables of its own: what the chief reads to save, it has to read too.
            own = os.path.join(checkpoint_dir, f"tmp_{context.task_type}_{context.task_id}")
            hooks.append(CheckpointSaverHook(own, scaffold=scaffold, **checkpoint_every))
    if not context.distributed_mode or context.is_chief:
        hooks = chief_only_hooks + hooks
    return MonitoredSession(session_creator=creator, hooks=hooks, stop_grace_period_secs=stop_grace_period_secs)
