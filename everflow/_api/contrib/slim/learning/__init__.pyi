"""Written by `make index`."""
from typing import Any

from everflow.contrib.training.train_ops import add_gradients_summaries as add_gradients_summaries
from everflow.contrib.training.train_ops import clip_gradient_norms as clip_gradient_norms
from everflow.contrib.training.train_ops import create_clipping_train_op as _create_train_op
create_train_op = _create_train_op
from everflow.contrib.training.train_ops import multiply_gradients as multiply_gradients
from everflow.contrib.slim.training_loop import train as train
from everflow.contrib.slim.training_loop import train_step as train_step
