"""Written by `make index`."""
from typing import Any

from everflow.tpu.training import AsyncCheckpointSaverHook as AsyncCheckpointSaverHook
from everflow.tpu.training import CrossShardOptimizer as CrossShardOptimizer
from everflow.tpu.topology import DeviceAssignment as DeviceAssignment
from everflow.tpu.infeed_queue import InfeedQueue as InfeedQueue
from everflow.estimator.tpu import InputPipelineConfig as InputPipelineConfig
from everflow.estimator.tpu import TPURunConfig as _RunConfig
RunConfig = _RunConfig
from everflow.estimator.tpu import TPUConfig as TPUConfig
from everflow.contrib.tpu_models import TPUDistributionStrategy as TPUDistributionStrategy
from everflow.estimator.tpu import TPUEstimator as TPUEstimator
from everflow.estimator.tpu import TPUEstimatorSpec as TPUEstimatorSpec
from everflow.tpu.topology import Topology as Topology
from everflow.tpu.replication import batch_parallel as batch_parallel
from everflow.tpu.training import bfloat16_scope as bfloat16_scope
from everflow.tpu.replication import core as core
from everflow.tpu.replication import cross_replica_sum as cross_replica_sum
from everflow.tpu.topology import device_assignment as device_assignment
from everflow.tpu.training import export_estimator_savedmodel as export_estimator_savedmodel
from everflow.tpu.feeds import infeed_dequeue as infeed_dequeue
from everflow.tpu.feeds import infeed_dequeue_tuple as infeed_dequeue_tuple
infeed_enqueue: Any
infeed_enqueue_tuple: Any
from everflow.tpu.replication import initialize_system as initialize_system
from everflow.contrib.tpu_models import keras_to_tpu_model as keras_to_tpu_model
outfeed_dequeue: Any
outfeed_dequeue_tuple: Any
outfeed_enqueue: Any
outfeed_enqueue_tuple: Any
from everflow.tpu.replication import outside_compilation as outside_compilation
from everflow.tpu.replication import repeat as repeat
from everflow.tpu.replication import replicate as replicate
from everflow.tpu.replication import rewrite as rewrite
from everflow.tpu.replication import shard as shard
from everflow.tpu.replication import shutdown_system as shutdown_system
from everflow.tpu.replication import while_loop as while_loop
