"""SessionManager: sessions whose model is ready, from a checkpoint, by init ops, or by waiting for another process."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

import everflow as tf
from everflow import errors
from everflow.api import public
from everflow.graph.graph import Graph
from everflow.platform import logging
from everflow.train.checkpoints.state import get_checkpoint_state

# How far a model is: as the messages about it say.
_READY_FOR_LOCAL_INIT, _READY = "ready for local_init", "ready"


class _Missing(NamedTuple):
    """What keeps a model from the next stage."""

    stage: str
    names: str


@public("train.SessionManager")
class SessionManager:
    """Makes sessions and brings their models to the point where training goes on."""

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , ready_for_local_init_op "
                f"[{ready_for_local_init_op}]"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph or tf.get_default_graph()
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Any = None,
    ) -> Any:
        """A session with a model from the checkpoint, or else from the init op and function."""
        sess = self._new_session(master, config)
        patience = max_wait_secs if wait_for_checkpoint else 0
        if not self._restored(sess, saver, checkpoint_dir, checkpoint_filename_with_path, patience):
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        missing = self._missing(sess)
        if missing:
            tried = f"Init op: {getattr(init_op, 'name', None) or init_op}, init fn: {init_fn}"
            if missing.stage == _READY:
                tried += f", local_init_op: {self._local_init_op}"
            raise RuntimeError(f"Init operations did not make model {missing.stage}.  {tried}, error: {missing.names}")
        return sess

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: Any = None,
        checkpoint_filename_with_path: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Any, bool]:
        """A session, and whether its model was ready after a checkpoint was restored."""
        sess = self._new_session(master, config)
        patience = max_wait_secs if wait_for_checkpoint else 0
        if not self._restored(sess, saver, checkpoint_dir, checkpoint_filename_with_path, patience):
            self._initialize_locally(sess)
            return sess, False
        missing = self._missing(sess)
        source = checkpoint_dir or checkpoint_filename_with_path
        if missing:
            logging.info("Restoring model from %s did not make model %s: %s", source, missing.stage, missing.names)
            return sess, False
        logging.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(self, master: str, config: Any = None, max_wait_secs: float = float("Inf")) -> Any:
        """A session whose model somebody else makes ready."""
        deadline = time.time() + (float("Inf") if max_wait_secs is None else max_wait_secs)
        while True:
            sess = self._new_session(master, config)
            missing = self._missing(sess)
            if not missing:
                return sess
            _close_quietly(sess)
            if deadline - time.time() < self._recovery_wait_secs:
                raise errors.DeadlineExceededError(None, None, f"Session was not ready after waiting {max_wait_secs:.0f} secs.")
            early = missing.names if missing.stage == _READY_FOR_LOCAL_INIT else None
            late = missing.names if missing.stage == _READY else None
            logging.info("Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", early, late)
            time.sleep(self._recovery_wait_secs)

    def _new_session(self, master: str, config: Any) -> Any:
        return tf.Session(master, graph=self._graph, config=config)

    def _restored(self, sess: Any, saver: Any, folder: Any, path: Any, patience: float) -> bool:
        """Whether there was a checkpoint for the session: that of a path, or the last of a folder, which may take its time to appear."""
        if folder and path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if not saver or not (folder or path):
            return False
        if path:
            saver.restore(sess, path)
            return True
        deadline = time.time() + patience
        while not ((state := get_checkpoint_state(folder)) and state.model_checkpoint_path):
            left = deadline - time.time()
            if left <= 0:
                return False
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(min(self._recovery_wait_secs, left))
        saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return True

    def _initialize_locally(self, sess: Any) -> _Missing | None:
        """Initializes what is local, or says what the model lacks before that."""
        if self._local_init_op is None:
            return None
        if names := uninitialized(self._ready_for_local_init_op, sess, _READY_FOR_LOCAL_INIT):
            return _Missing(_READY_FOR_LOCAL_INIT, names)
        logging.info("Running local_init_op.")
        sess.run(self._local_init_op, options=self._local_init_run_options)
        logging.info("Done running local_init_op.")
        return None

    def _missing(self, sess: Any) -> _Missing | None:
        """What the model lacks, after what is local was initialized."""
        if early := self._initialize_locally(sess):
            return early
        names = uninitialized(self._ready_op, sess, _READY)
        return _Missing(_READY, names) if names else None


def _close_quietly(sess: Any) -> None:
    try:
        sess.close()
    except Exception as e:
        # A session that can't be reached can't be closed; a new one is made anyway.
        logging.vlog(1, "Session close failed: %s", e)


def uninitialized(op: Any, sess: Any, stage: str) -> str | None:
    """What is not initialized, by an op that gives names or fails; None if everything is."""
    if op is None:
        return None
    try:
        names = sess.run(op)
    except errors.FailedPreconditionError as e:
        if "uninitialized" not in str(e):
            logging.warning("Model not %s : error [%s]", stage, e)
            raise
        return str(e)
    if names is None or names.dtype == np.int32 or names.size == 0:
        return None
    return "Variables not initialized: " + ", ".join(name.decode("utf-8") for name in names)
