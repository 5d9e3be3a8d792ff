"""Written by `make index`."""
from typing import Any

from everflow.summary.messages import Event as Event
from everflow.summary.writer import FileWriter as FileWriter
from everflow.summary.writer_cache import FileWriterCache as FileWriterCache
from everflow.summary.messages import SessionLog as SessionLog
from everflow.summary.messages import Summary as Summary
from everflow.summary.messages import SummaryDescription as SummaryDescription
from everflow.summary.messages import TaggedRunMetadata as TaggedRunMetadata
from everflow.summary.recording import all_v2_summary_ops as all_v2_summary_ops
from everflow.summary.functions import audio as audio
from everflow.summary.functions import get_summary_description as get_summary_description
from everflow.summary.functions import histogram as histogram
from everflow.summary.functions import image as image
from everflow.summary.recording import initialize as initialize
from everflow.summary.functions import merge as merge
from everflow.summary.functions import merge_all as merge_all
from everflow.summary.functions import scalar as scalar
from everflow.summary.functions import tensor_summary as tensor_summary
from everflow.summary.functions import text as text
