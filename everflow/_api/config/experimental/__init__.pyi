"""Written by `make index`."""
from typing import Any

from everflow.eager.config import VirtualDeviceConfiguration as VirtualDeviceConfiguration
from everflow.eager.config import get_device_policy as get_device_policy
from everflow.eager.config import get_memory_growth as get_memory_growth
from everflow.eager.config import get_synchronous_execution as get_synchronous_execution
from everflow.eager.config import get_virtual_device_configuration as get_virtual_device_configuration
from everflow.eager.config import get_visible_devices as get_visible_devices
from everflow.eager.config import list_logical_devices as list_logical_devices
from everflow.eager.config import list_physical_devices as list_physical_devices
from everflow.eager.config import set_device_policy as set_device_policy
from everflow.eager.config import set_memory_growth as set_memory_growth
from everflow.eager.config import set_synchronous_execution as set_synchronous_execution
from everflow.eager.config import set_virtual_device_configuration as set_virtual_device_configuration
from everflow.eager.config import set_visible_devices as set_visible_devices
