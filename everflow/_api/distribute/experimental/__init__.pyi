"""Written by `make index`."""
from typing import Any

from everflow.distribute.parameter_server import CentralStorageStrategy as CentralStorageStrategy
from everflow.distribute.collective_reductions import CollectiveCommunication as CollectiveCommunication
from everflow.distribute.multi_worker_mirrored import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from everflow.distribute.parameter_server import ParameterServerStrategy as ParameterServerStrategy
from everflow.distribute.tpu import TPUStrategy as TPUStrategy
