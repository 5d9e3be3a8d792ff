"""Callbacks that write what epochs said to files or servers."""

from __future__ import annotations

import collections
import csv
import json
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from everflow.api import NAMES, internal, public
from everflow.keras.callbacks.base import Callback
from everflow.platform import logging as tf_logging

try:
    import requests
except ImportError:
    requests = None  # type: ignore[assignment]
internal("keras.callbacks.requests")(requests)


@public("keras.callbacks.CSVLogger")
@internal("keras.callbacks.CSVLogger")
class CSVLogger(Callback):
    """Writes a line for each epoch to a CSV file."""

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.sep = separator
        self.filename = os.fspath(filename)
        self.append = append
        self.writer: Any = None
        self.keys: Any = None
        self.append_header = True

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        if self.append and os.path.exists(self.filename):
            with open(self.filename) as f:
                self.append_header = not bool(f.readline())
        self.csv_file = open(self.filename, "a" if self.append else "w", newline="")

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        logs = logs or {}

        def shown(k: Any) -> Any:
            if isinstance(k, str) or isinstance(k, np.ndarray) and k.ndim == 0:
                return k
            return f'"[{", ".join(map(str, k))}]"' if isinstance(k, Iterable) else k

        if self.keys is None:
            self.keys = sorted(logs)
        if self.model.stop_training:
            # Where training ended early, validation may not have said anything.
            logs = {k: logs.get(k, "NA") for k in self.keys}
        if self.writer is None:
            self.writer = csv.DictWriter(self.csv_file, fieldnames=["epoch", *self.keys], delimiter=self.sep, lineterminator="\n")
            if self.append_header:
                self.writer.writeheader()
        self.writer.writerow(collections.OrderedDict([("epoch", epoch), *((k, shown(logs[k])) for k in self.keys)]))
        self.csv_file.flush()

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self.csv_file.close()
        self.writer = None


@public("keras.callbacks.RemoteMonitor")
@internal("keras.callbacks.RemoteMonitor")
class RemoteMonitor(Callback):
    """Sends what each epoch said to a server."""

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: Any = None,
        send_as_json: bool = False,
    ) -> None:
        super().__init__()
        self.root = root
        self.path = path
        self.field = field
        self.headers = headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        client = NAMES.get("python.keras.callbacks.requests", requests)
        if client is None:
            raise ImportError("RemoteMonitor requires the `requests` library.")
        send = {"epoch": epoch, **{k: v.item() if isinstance(v, (np.ndarray, np.generic)) else v for k, v in (logs or {}).items()}}
        try:
            if self.send_as_json:
                client.post(self.root + self.path, json=send, headers=self.headers)
            else:
                client.post(self.root + self.path, {self.field: json.dumps(send)}, headers=self.headers)
        except client.exceptions.RequestException:
            tf_logging.warning("Warning: could not reach RemoteMonitor root server at %s", self.root)
