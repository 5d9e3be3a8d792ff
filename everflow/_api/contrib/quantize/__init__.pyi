"""Written by `make index`."""
from typing import Any

from everflow.contrib.quantize.graph_rewrites import create_eval_graph as create_eval_graph
from everflow.contrib.quantize.graph_rewrites import create_training_graph as create_training_graph
from everflow.contrib.quantize.graph_rewrites import experimental_create_eval_graph as experimental_create_eval_graph
from everflow.contrib.quantize.graph_rewrites import experimental_create_training_graph as experimental_create_training_graph
