"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.learn.python.learn.ops import embeddings_ops as embeddings_ops
from everflow._api.contrib.learn.python.learn.ops import losses_ops as losses_ops
from everflow._api.contrib.learn.python.learn.ops import seq2seq_ops as seq2seq_ops
