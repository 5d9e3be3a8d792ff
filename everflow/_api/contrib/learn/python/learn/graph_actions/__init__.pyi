"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.graph_actions import clear_summary_writers as clear_summary_writers
from everflow.contrib.learn.graph_actions import coordinator as coordinator
from everflow.contrib.learn.graph_actions import evaluate as evaluate
from everflow.contrib.learn.graph_actions import get_summary_writer as get_summary_writer
from everflow.contrib.learn.graph_actions import infer as infer
from everflow.contrib.learn.graph_actions import run_feeds as run_feeds
from everflow.contrib.learn.graph_actions import run_feeds_iter as run_feeds_iter
from everflow.contrib.learn.graph_actions import run_n as run_n
from everflow.contrib.learn.graph_actions import train as train
