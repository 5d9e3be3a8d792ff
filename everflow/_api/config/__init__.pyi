"""Written by `make index`."""
from typing import Any

from everflow._api.config import experimental as experimental
from everflow.eager.remote import connect_to_cluster as _experimental_connect_to_cluster
experimental_connect_to_cluster = _experimental_connect_to_cluster
from everflow.eager.remote import connect_to_remote_host as _experimental_connect_to_host
experimental_connect_to_host = _experimental_connect_to_host
from everflow.eager.context import list_devices as _experimental_list_devices
experimental_list_devices = _experimental_list_devices
from everflow.eager.functions import run_functions_eagerly as _experimental_run_functions_eagerly
experimental_run_functions_eagerly = _experimental_run_functions_eagerly
from everflow.eager.config import get_soft_device_placement as get_soft_device_placement
from everflow._api.config import optimizer as optimizer
from everflow.eager.config import set_soft_device_placement as set_soft_device_placement
from everflow._api.config import threading as threading
