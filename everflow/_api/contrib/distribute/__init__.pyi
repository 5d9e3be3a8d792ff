"""Written by `make index`."""
from typing import Any

from everflow.distribute.reductions import CrossDeviceOps as CrossDeviceOps
from everflow.distribute.strategy import Strategy as _DistributionStrategy
DistributionStrategy = _DistributionStrategy
from everflow.distribute.mirrored import ContribMirroredStrategy as _MirroredStrategy
MirroredStrategy = _MirroredStrategy
from everflow.distribute.one_device import ContribOneDeviceStrategy as _OneDeviceStrategy
OneDeviceStrategy = _OneDeviceStrategy
from everflow.distribute.reductions import ReductionToOneDevice as _ReductionToOneDeviceCrossDeviceOps
ReductionToOneDeviceCrossDeviceOps = _ReductionToOneDeviceCrossDeviceOps
from everflow.distribute.strategy_context import get_replica_context as get_replica_context
from everflow.distribute.strategy_context import get_strategy as get_strategy
from everflow.distribute.strategy_context import has_strategy as _has_distribution_strategy
has_distribution_strategy = _has_distribution_strategy
from everflow.distribute.strategy_context import has_strategy as has_strategy
from everflow.distribute.strategy_context import in_cross_replica_context as in_cross_replica_context
