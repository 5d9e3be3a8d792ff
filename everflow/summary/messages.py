"""The messages that summaries and events are written in."""

from __future__ import annotations

from everflow.api import public
from everflow.proto import event_pb2, summary_pb2

Summary = public("Summary", "summary.Summary")(summary_pb2.Summary)
SummaryDescription = public("summary.SummaryDescription")(summary_pb2.SummaryDescription)
SummaryMetadata = public("SummaryMetadata")(summary_pb2.SummaryMetadata)
HistogramProto = public("HistogramProto")(summary_pb2.HistogramProto)
Event = public("Event", "summary.Event")(event_pb2.Event)
SessionLog = public("SessionLog", "summary.SessionLog")(event_pb2.SessionLog)
LogMessage = public("LogMessage")(event_pb2.LogMessage)
TaggedRunMetadata = public("summary.TaggedRunMetadata")(event_pb2.TaggedRunMetadata)
