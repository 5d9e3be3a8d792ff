"""Written by `make index`."""
from typing import Any

from everflow.tpu.embedding import AdagradParameters as AdagradParameters
from everflow.tpu.embedding import AdamParameters as AdamParameters
from everflow.tpu.topology import DeviceAssignment as DeviceAssignment
from everflow.tpu.embedding import StochasticGradientDescentParameters as StochasticGradientDescentParameters
from everflow.tpu.embedding import embedding_column as embedding_column
from everflow.tpu.replication import initialize_tpu_system as initialize_tpu_system
from everflow.tpu.embedding import shared_embedding_columns as shared_embedding_columns
