"""Written by `make index`."""
from typing import Any

from everflow.tpu.training import CrossShardOptimizer as CrossShardOptimizer
from everflow.tpu.replication import batch_parallel as batch_parallel
from everflow.tpu.training import bfloat16_scope as bfloat16_scope
from everflow.tpu.replication import core as core
from everflow.tpu.replication import cross_replica_sum as cross_replica_sum
from everflow._api.tpu import experimental as experimental
from everflow.tpu.replication import initialize_system as initialize_system
from everflow.tpu.replication import outside_compilation as outside_compilation
from everflow.tpu.replication import replicate as replicate
from everflow.tpu.replication import rewrite as rewrite
from everflow.tpu.replication import shard as shard
from everflow.tpu.replication import shutdown_system as shutdown_system
