"""Hooks: code that runs around each `run` of a monitored session."""

from __future__ import annotations

import collections
from typing import Any

from everflow.api import public


@public("train.SessionRunHook", "estimator.SessionRunHook")
class SessionRunHook:
    """What a monitored session calls: `begin`, `after_create_session`, then `before_run` and `after_run` for each step, then `end`."""

    def begin(self) -> None:
        """Called once, while the graph can still be changed."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called for each session that is made, also after a failure."""

    def before_run(self, run_context: SessionRunContext) -> Any:
        """Called before a run; may return `SessionRunArgs` with what to fetch and feed besides."""

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after a run, with what was fetched for this hook."""

    def end(self, session: Any) -> None:
        """Called at the end, unless an error was raised."""


@public("train.SessionRunArgs", "estimator.SessionRunArgs")
class SessionRunArgs(collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])):
    """What a hook adds to a run."""

    def __new__(cls, fetches: Any, feed_dict: dict[Any, Any] | None = None, options: Any = None) -> SessionRunArgs:
        return super().__new__(cls, fetches, feed_dict, options)


@public("train.SessionRunContext", "estimator.SessionRunContext")
class SessionRunContext:
    """The run that hooks are called for: its arguments, its session, and whether it shall be the last."""

    def __init__(self, original_args: Any, session: Any) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> Any:
        """The `SessionRunArgs` that the program called `run` with."""
        return self._original_args

    @property
    def session(self) -> Any:
        return self._session

    @property
    def stop_requested(self) -> bool:
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes this run the last one."""
        self._stop_requested = True


@public("train.SessionRunValues", "estimator.SessionRunValues")
class SessionRunValues(collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])):
    """What a run gave to a hook."""
