"""Written by `make index`."""
from typing import Any

from everflow.eager.config import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
from everflow.eager.config import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
from everflow.eager.config import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
from everflow.eager.config import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads
