"""Runs the requests that come with a model before it serves, so that the first client does not wait for plans to be made."""

from __future__ import annotations

import logging
import os
import time
from typing import Any

from google.protobuf.message import DecodeError

from everflow.errors import invalid_argument, unimplemented
from everflow.io import gfile, records
from everflow.proto import prediction_log_pb2
from everflow.saved_model import constants
from everflow.serving import monitoring

log = logging.getLogger("everflow.serving")

FILE = os.path.join(constants.EXTRA_ASSETS_DIRECTORY, "tf_serving_warmup_requests")
MOST = 1000


def warm_up(servable: Any, folder: str) -> None:
    """Answers the requests of a model's warm-up file. One that fails fails the load."""
    path = os.path.join(folder, FILE)
    if not gfile.file_exists(path):
        log.debug("No warmup data file found at %s", path)
        return
    start, status = time.perf_counter(), "success"
    log.info("Starting to read warmup data for model at %s", path)
    try:
        count = 0
        for record in records.read(path):
            count += 1
            if count > MOST:
                raise invalid_argument(f"Number of warmup records exceeeds the maximum ({MOST}) at {path}")
            try:
                message = prediction_log_pb2.PredictionLog.FromString(record)
            except DecodeError:
                raise invalid_argument(
                    f"Failed to parse warmup record: {record[:100]!r} from {path}. Please verify your warmup data is in TFRecord format."
                ) from None
            _answer(servable, message)
    except Exception:
        status = "fail"
        raise
    finally:
        seconds = time.perf_counter() - start
        monitoring.warmup_latency.add(seconds * 1e6, folder, status)
    log.info("Finished reading warmup data for model at %s. Number of warmup records read: %d. Elapsed time (microseconds): %d.",
             path, count, seconds * 1e6)  # fmt: skip


def _answer(servable: Any, message: Any) -> None:
    kind = message.WhichOneof("log_type")
    methods = {
        "predict_log": servable.predict,
        "classify_log": servable.classify,
        "regress_log": servable.regress,
        "multi_inference_log": servable.multi_inference,
        "session_run_log": servable.session_run,
    }
    if kind not in methods:
        raise unimplemented(f"Unsupported log_type for warmup: {kind or 'LOG_TYPE_NOT_SET'}")
    methods[kind](getattr(message, kind).request)
