"""A session that dumps every run to a folder of its own."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.debug import events
from everflow.debug.destinations import FILE, now
from everflow.debug.dump_files import FEED_KEYS_INFO_FILE_TAG, FETCHES_INFO_FILE_TAG, METADATA_FILE_PREFIX
from everflow.debug.wrapped_sessions import NonInteractiveDebugWrapperSession


def empty_folder(path: str, argument: str) -> None:
    """Makes a folder, or refuses a path at which there is something already."""
    if os.path.isdir(path):
        if os.listdir(path):
            raise ValueError(f"{argument} path points to a non-empty directory: {path}")
    elif os.path.exists(path):
        raise ValueError(f"{argument} path points to a file: {path}")


@internal("debug.wrappers.dumping_wrapper.DumpingDebugWrapperSession")
class DumpingDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """Dumps each run to a folder `run_TIME_NUMBER` in `session_root`, which must be new or empty."""

    def __init__(
        self,
        sess: Any,
        session_root: str,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool | None = None,
        log_usage: bool = True,
    ) -> None:
        super().__init__(sess, watch_fn=watch_fn, thread_name_filter=thread_name_filter, pass_through_operrors=bool(pass_through_operrors))
        empty_folder(session_root, "session_root")
        os.makedirs(session_root, exist_ok=True)
        self._session_root = session_root
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> str:
        """The URL of a new folder, in which it is written what the run fetches and is fed."""
        with self._lock:
            folder = os.path.join(self._session_root, f"run_{now()}_{next(self._numbers)}")
        os.makedirs(folder)
        for tag, text in ((FETCHES_INFO_FILE_TAG, repr(fetches)), (FEED_KEYS_INFO_FILE_TAG, repr(feed_dict.keys() if feed_dict else None))):
            with open(os.path.join(folder, METADATA_FILE_PREFIX + tag), "wb") as file:
                event = events.message_event(text, 0)
                event.ClearField("wall_time")
                file.write(event.SerializeToString())
        return FILE + folder
