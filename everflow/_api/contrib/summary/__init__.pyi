"""Written by `make index`."""
from typing import Any

from everflow.summary.recording import SummaryWriter as SummaryWriter
absolute_import: Any
from everflow.summary.recording import all_v2_summary_ops as _all_summary_ops
all_summary_ops = _all_summary_ops
from everflow.summary.recording import always_record_summaries as always_record_summaries
from everflow.summary.recording import audio as audio
from everflow.summary.recording import create_db_writer as create_db_writer
from everflow.summary.recording import create_file_writer as create_file_writer
from everflow.summary.recording import create_summary_file_writer as create_summary_file_writer
division: Any
from everflow.summary.recording import eval_dir as eval_dir
from everflow.summary.recording import flush as flush
from everflow.summary.recording import generic as generic
from everflow.summary.recording import graph as graph
from everflow.summary.recording import histogram as histogram
from everflow.summary.recording import image as image
from everflow.summary.recording import import_event as import_event
from everflow.summary.recording import initialize as initialize
from everflow.summary.recording import never_record_summaries as never_record_summaries
print_function: Any
from everflow.summary.recording import record_summaries_every_n_global_steps as record_summaries_every_n_global_steps
from everflow.summary.recording import scalar as scalar
from everflow.summary.recording import should_record_summaries as should_record_summaries
from everflow.summary.recording import summary_writer_initializer_op as summary_writer_initializer_op
