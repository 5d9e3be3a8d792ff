"""Written by `make index`."""
from typing import Any

from everflow.contrib.testing.fake_summary_writer import FakeSummaryWriter as FakeSummaryWriter
absolute_import: Any
from everflow.contrib.testing.events import assert_summary as assert_summary
division: Any
from everflow.contrib.testing.events import latest_event_file as latest_event_file
from everflow.contrib.testing.events import latest_events as latest_events
from everflow.contrib.testing.events import latest_summaries as latest_summaries
print_function: Any
from everflow.contrib.testing.events import simple_values_from_events as simple_values_from_events
from everflow.contrib.testing.events import to_summary_proto as to_summary_proto
