"""Written by `make index`."""
from typing import Any

from everflow.distribute.reductions import CrossDeviceOps as CrossDeviceOps
from everflow.distribute.reductions import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from everflow.distribute.strategy import InputContext as InputContext
from everflow.distribute.strategy import InputReplicationMode as InputReplicationMode
from everflow.distribute.mirrored import MirroredStrategy as MirroredStrategy
from everflow.distribute.reductions import NcclAllReduce as NcclAllReduce
from everflow.distribute.one_device import OneDeviceStrategy as OneDeviceStrategy
from everflow.distribute.reductions import ReduceOp as ReduceOp
from everflow.distribute.reductions import ReductionToOneDevice as ReductionToOneDevice
from everflow.distribute.strategy import ReplicaContext as ReplicaContext
from everflow.distribute.server import Server as Server
from everflow.distribute.strategy import Strategy as Strategy
from everflow.distribute.strategy import StrategyExtended as StrategyExtended
from everflow._api.distribute import cluster_resolver as cluster_resolver
from everflow._api.distribute import experimental as experimental
from everflow.distribute.strategy_context import experimental_set_strategy as experimental_set_strategy
from everflow.distribute.strategy import get_loss_reduction as get_loss_reduction
from everflow.distribute.strategy_context import get_replica_context as get_replica_context
from everflow.distribute.strategy_context import get_strategy as get_strategy
from everflow.distribute.strategy_context import has_strategy as has_strategy
from everflow.distribute.strategy_context import in_cross_replica_context as in_cross_replica_context
