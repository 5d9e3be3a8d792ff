"""SessionManager: sessions whose model is ready, from a checkpoint, by init ops, or by waiting for another process."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

import everflow as tf
from everflow import errors
from everflow.api import public
from everflow.platform import logging
from everflow.train.checkpoints.state import get_checkpoint_state


@public("train.SessionManager")
class SessionManager:
    """Makes sessions and brings their models to the point where training goes on."""

    def __init__(self, local_init_op: Any = None, ready_op: Any = None, ready_for_local_init_op: Any = None, graph: Any = None,
                 recovery_wait_secs: float = 30, local_init_run_options: Any = None) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op , ready_for_local_init_op "
                             f"[{ready_for_local_init_op}]")
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph or tf.get_default_graph()
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def _restore_checkpoint(self, master: str, saver: Any, checkpoint_dir: Any, checkpoint_filename_with_path: Any,
                            wait_for_checkpoint: bool, max_wait_secs: float, config: Any) -> tuple[Any, bool]:
        """A session, and whether a checkpoint was restored into it."""
        sess = tf.Session(master, graph=self._graph, config=config)
        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
            return sess, False
        if checkpoint_filename_with_path:
            saver.restore(sess, checkpoint_filename_with_path)
            return sess, True
        deadline = time.time() + max_wait_secs
        while True:
            state = get_checkpoint_state(checkpoint_dir)
            if state and state.model_checkpoint_path:
                break
            left = deadline - time.time()
            if not wait_for_checkpoint or left <= 0:
                return sess, False
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(min(self._recovery_wait_secs, left))
        saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return sess, True

    def prepare_session(self, master: str, init_op: Any = None, saver: Any = None, checkpoint_dir: Any = None,
                        checkpoint_filename_with_path: Any = None, wait_for_checkpoint: bool = False, max_wait_secs: float = 7200,
                        config: Any = None, init_feed_dict: Any = None, init_fn: Any = None) -> Any:
        """A session with a model from the checkpoint, or else from the init op and function."""
        sess, restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
                                                  max_wait_secs, config)
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        shown_init_op = getattr(init_op, "name", None) or str(init_op)
        problem = self._run_local_init_op(sess)
        if problem is not None:
            raise RuntimeError("Init operations did not make model ready for local_init.  "
                               f"Init op: {shown_init_op}, init fn: {init_fn}, error: {problem}")
        problem = _not_ready(self._ready_op, sess, "Model not ready")
        if problem is not None:
            raise RuntimeError(f"Init operations did not make model ready.  Init op: {shown_init_op}, init fn: {init_fn}, local_init_op: "
                               f"{self._local_init_op}, error: {problem}")
        return sess

    def recover_session(self, master: str, saver: Any = None, checkpoint_dir: Any = None, checkpoint_filename_with_path: Any = None,
                        wait_for_checkpoint: bool = False, max_wait_secs: float = 7200, config: Any = None) -> tuple[Any, bool]:
        """A session, and whether its model was ready after a checkpoint was restored."""
        sess, restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
                                                  max_wait_secs, config)
        # The local init op runs once, whatever was restored.
        local_problem = self._run_local_init_op(sess)
        if not restored:
            return sess, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if local_problem is not None:
            logging.info("Restoring model from %s did not make model ready for local init: %s", source, local_problem)
            return sess, False
        problem = _not_ready(self._ready_op, sess, "Model not ready")
        if problem is not None:
            logging.info("Restoring model from %s did not make model ready: %s", source, problem)
            return sess, False
        logging.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float = float("Inf")) -> Any:
        """A session whose model somebody else makes ready."""
        deadline = time.time() + (float("Inf") if max_wait_secs is None else max_wait_secs)
        while True:
            sess = tf.Session(master, graph=self._graph, config=config)
            problem = None
            local_problem = self._run_local_init_op(sess)
            if local_problem is None:
                problem = _not_ready(self._ready_op, sess, "Model not ready")
                if problem is None:
                    return sess
            _close_quietly(sess)
            if deadline - time.time() < self._recovery_wait_secs:
                raise errors.DeadlineExceededError(None, None, f"Session was not ready after waiting {max_wait_secs:.0f} secs.")
            logging.info("Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", local_problem, problem)
            time.sleep(self._recovery_wait_secs)

    def _run_local_init_op(self, sess: Any) -> str | None:
        """Runs the local init op if the model is ready for it; else says what is missing."""
        if self._local_init_op is None:
            return None
        problem = _not_ready(self._ready_for_local_init_op, sess, "Model not ready for local init")
        if problem is None:
            logging.info("Running local_init_op.")
            sess.run(self._local_init_op, options=self._local_init_run_options)
            logging.info("Done running local_init_op.")
        return problem


def _close_quietly(sess: Any) -> None:
    try:
        sess.close()
    except Exception as e:
        # A session that can't be reached can't be closed; a new one is made anyway.
        logging.vlog(1, "Session close failed: %s", e)


def _not_ready(op: Any, sess: Any, message: str) -> str | None:
    """What is missing, by an op that gives names of uninitialized variables or fails; None if nothing is."""
    if op is None:
        return None
    try:
        missing = sess.run(op)
    except errors.FailedPreconditionError as e:
        if "uninitialized" not in str(e):
            logging.warning("%s : error [%s]", message, e)
            raise
        return str(e)
    if missing is None or missing.dtype == np.int32 or missing.size == 0:
        return None
    return "Variables not initialized: " + ", ".join(name.decode("utf-8") for name in missing)
