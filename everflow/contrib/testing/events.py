"""What tests read back from event files."""

from __future__ import annotations

import os
from typing import Any

import everflow as tf
from everflow.api import public


@public("contrib.testing.assert_summary")
def assert_summary(expected_tags: Any, expected_simple_values: Any, summary_proto: Any) -> None:
    """Checks the tags and numbers of a summary."""
    actual_tags = {value.tag for value in summary_proto.value}
    assert set(expected_tags) == actual_tags, f"Expected tags {expected_tags}, got {sorted(actual_tags)}."
    actual = {value.tag: value.simple_value for value in summary_proto.value if value.HasField("simple_value")}
    for tag, value in expected_simple_values.items():
        assert actual.get(tag) == value, f"Expected {tag} = {value}, got {actual.get(tag)}."


@public("contrib.testing.to_summary_proto")
def to_summary_proto(summary_str: bytes) -> Any:
    """A summary from its bytes."""
    return tf.Summary.FromString(summary_str)


@public("contrib.testing.latest_event_file")
def latest_event_file(base_dir: Any) -> str | None:
    """The newest event file of a folder."""
    paths = tf.gfile.Glob(os.path.join(base_dir, "events.*"))
    return max(paths, default=None, key=lambda path: (os.path.getctime(path), path))


@public("contrib.testing.latest_events")
def latest_events(base_dir: Any) -> list[Any]:
    """The events of the newest event file of a folder."""
    path = latest_event_file(base_dir)
    return [] if path is None else list(tf.train.summary_iterator(path))


@public("contrib.testing.latest_summaries")
def latest_summaries(base_dir: Any) -> list[Any]:
    """The events of the newest event file that hold summaries."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


@public("contrib.testing.simple_values_from_events")
def simple_values_from_events(events: Any, tags: Any) -> dict[str, float]:
    """The last number of each tag."""
    return {value.tag: value.simple_value for event in events if event.summary for value in event.summary.value if value.tag in tags}
