"""Written by `make index`."""
from typing import Any

from everflow.train.checkpoints.waiting import checkpoints_iterator as checkpoints_iterator
from everflow.contrib.slim.evaluating import evaluate_once as evaluate_once
from everflow.contrib.slim.evaluating import evaluation_loop as evaluation_loop
from everflow.train.checkpoints.waiting import wait_for_new_checkpoint as wait_for_new_checkpoint
