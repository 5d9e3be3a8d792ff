"""The layers of a monitored session: hooks, a coordinator, and recovery, each around the session below it."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import everflow as tf
from everflow import errors
from everflow.api import internal
from everflow.platform import logging
from everflow.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunValues

# A worker or parameter server went away: what is lost can be restored from a checkpoint.
PREEMPTION_ERRORS = internal("training.monitored_session._PREEMPTION_ERRORS")((errors.AbortedError, errors.UnavailableError))


class StepContext:
    """What a step function gets: the plain session, and `run_with_hooks`."""

    def __init__(self, session: Any, run_with_hooks_fn: Any) -> None:
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> Any:
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Runs as `MonitoredSession.run` does."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the loop, by a StopIteration."""
        raise StopIteration("step_fn has requested the iterations to stop.")


@internal("training.monitored_session._WrappedSession")
class WrappedSession:
    """A session around another one, with a say in whether to stop."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess

    graph = property(attrgetter("_sess.graph"))
    sess_str = property(attrgetter("_sess.sess_str"))

    def should_stop(self) -> bool:
        """Whether the loop shall end: this layer says so, one below does, or the session is closed."""
        return self._check_stop() or self._sess is None or (isinstance(self._sess, WrappedSession) and self._sess.should_stop())

    def _check_stop(self) -> bool:
        return False

    def close(self) -> None:
        inner, self._sess = self._sess, None
        if inner:
            try:
                inner.close()
            except PREEMPTION_ERRORS as e:
                logging.error("A session could not be closed, because a process that it used is gone: %s", e)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Any, raw_session: Any, run_with_hooks: Any = None) -> Any:
        """Calls a step function; `raw_session` gives the plain session of the moment."""
        return step_fn(StepContext(raw_session(), run_with_hooks or self.run))


@internal("training.monitored_session._RecoverableSession")
class RecoverableSession(WrappedSession):
    """Makes a new session when the present one is lost, and does again what was interrupted."""

    def __init__(self, sess_creator: Any) -> None:
        self._sess_creator = sess_creator
        super().__init__(None)
        self._retried(lambda session: session)

    def _retried(self, function: Callable[[Any], Any]) -> Any:
        """What a function makes of the session, or of the one after it, until none is lost meanwhile."""
        while True:
            try:
                if not self._sess:
                    self._sess = self._sess_creator.create_session()
                return function(self._sess)
            except PREEMPTION_ERRORS as e:
                logging.info("A process that the session uses is gone; another session takes over from the last checkpoint: %s", e)
                self.close()

    def _check_stop(self) -> bool:
        try:
            return not self._sess or self._retried(lambda session: session._check_stop())
        except Exception:
            # It will be raised when the session is closed.
            return True

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._retried(lambda session: session.run(*args, **kwargs))

    def run_step_fn(self, step_fn: Any, raw_session: Any, run_with_hooks: Any = None) -> Any:
        return self._retried(lambda session: session.run_step_fn(step_fn, raw_session, run_with_hooks or session.run))


@internal("training.monitored_session._CoordinatedSession")
class CoordinatedSession(WrappedSession):
    """Stops with the threads of its coordinator, and they with it."""

    def __init__(self, sess: Any, coord: Any, stop_grace_period_secs: float = 120) -> None:
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception as e:
                # The error of a thread says more than what it led to.
                logging.vlog(1, "Session close failed: %s", e)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._sess.run(*args, **kwargs)
        except PREEMPTION_ERRORS:
            raise
        except Exception as e:
            try:
                self._coord.raise_requested_exception()
            except PREEMPTION_ERRORS:
                # A thread lost its worker first; what failed here is a consequence.
                raise
            except Exception:
                raise e from None
            raise


@internal("training.monitored_session._HookedSession")
class HookedSession(WrappedSession):
    """Calls hooks around each run."""

    def __init__(self, sess: Any, hooks: Any) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(self, fetches: Any, feed_dict: dict[Any, Any] | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        asked: list[Any] = [fetches]
        askers: list[Any] = []
        fed_by_hooks: dict[Any, Any] = {}
        merged: Any = None
        for hook in self._hooks:
            request = hook.before_run(context)
            if request is None:
                continue
            if request.fetches is not None:
                asked.append(request.fetches)
                askers.append(hook)
            if request.feed_dict:
                _refuse_conflicts(request.feed_dict, fed_by_hooks, "Same tensor is fed by two hooks.")
                fed_by_hooks.update(request.feed_dict)
            if request.options is not None:
                merged = _merged_options(options if merged is None else merged, request.options)
        if fed_by_hooks:
            _refuse_conflicts(fed_by_hooks, feed_dict or (), "Same tensor is fed by a SessionRunHook and user.")
            feed_dict = {**(feed_dict or {}), **fed_by_hooks}
        if merged is not None:
            options = merged
        # A session that records nothing is faster, so these go to it only where somebody set them.
        recorded = options is not None or run_metadata is not None
        if self._hooks or recorded:
            options = tf.RunOptions() if options is None else options
            run_metadata = tf.RunMetadata() if run_metadata is None else run_metadata
        extra = {"options": options, "run_metadata": run_metadata} if recorded else {}
        result, *fetched = self._sess.run(tuple(asked), feed_dict=feed_dict, **extra)
        by_hook = dict(zip(askers, fetched))
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(results=by_hook.get(hook), options=options, run_metadata=run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return result


def _refuse_conflicts(feeds: Any, others: Any, message: str) -> None:
    # Compared by identity: tensors may compare by value.
    known = {id(tensor) for tensor in others}
    both = [tensor for tensor in feeds if id(tensor) in known]
    if both:
        raise RuntimeError(f"{message} Conflict(s): {both}")


def _merged_options(options: Any, others: Any) -> Any:
    """What is recorded when a hook wants something recorded besides; neither argument is changed."""
    merged = tf.RunOptions()
    if options is not None:
        merged.CopyFrom(options)
    merged.trace_level = max(merged.trace_level, others.trace_level)
    merged.timeout_in_ms = max(merged.timeout_in_ms, others.timeout_in_ms)
    merged.inter_op_thread_pool = max(merged.inter_op_thread_pool, others.inter_op_thread_pool)
    merged.output_partition_graphs = merged.output_partition_graphs or others.output_partition_graphs
    merged.report_tensor_allocations_upon_oom = merged.report_tensor_allocations_upon_oom or others.report_tensor_allocations_upon_oom
    merged.debug_options.debug_tensor_watch_opts.extend(others.debug_options.debug_tensor_watch_opts)
    merged.debug_options.reset_disk_byte_usage |= others.debug_options.reset_disk_byte_usage
    return merged
