"""Event files."""

import pytest

import everflow as tf
from everflow.io.events import EventsWriter
from everflow.proto import event_pb2


def test_only_events_are_written(tmp_path):
    writer = EventsWriter(tmp_path / "log")
    with pytest.raises(TypeError, match="Expected an event_pb2.Event proto, but got <class 'str'>"):
        writer.WriteEvent("loss = 3")
    writer.WriteEvent(event_pb2.Event(step=7))
    writer.Close()
    (path,) = tmp_path.iterdir()
    assert [e.step for e in tf.train.summary_iterator(str(path))] == [0, 7]
