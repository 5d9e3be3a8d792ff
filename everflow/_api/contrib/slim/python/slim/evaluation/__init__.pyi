"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.evaluating import evaluate_once as evaluate_once
from everflow.contrib.slim.evaluating import evaluation_loop as evaluation_loop
