"""Written by `make index`."""
from typing import Any

from everflow.contrib.eager.metrics import Accuracy as Accuracy
from everflow.contrib.eager.metrics import BinaryAccuracy as BinaryAccuracy
from everflow.contrib.eager.metrics import CategoricalAccuracy as CategoricalAccuracy
from everflow.contrib.eager.metrics import Mean as Mean
from everflow.contrib.eager.metrics import Metric as Metric
from everflow.contrib.eager.metrics import SparseAccuracy as SparseAccuracy
