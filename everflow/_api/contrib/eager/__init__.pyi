"""Written by `make index`."""
from typing import Any

from everflow.eager.context import ASYNC as ASYNC
from everflow.contrib.eager.saver import Checkpoint as Checkpoint
from everflow.contrib.eager.saver import AutoTrackable as _Checkpointable
Checkpointable = _Checkpointable
from everflow.eager.context import DEVICE_PLACEMENT_EXPLICIT as DEVICE_PLACEMENT_EXPLICIT
from everflow.eager.context import DEVICE_PLACEMENT_SILENT as DEVICE_PLACEMENT_SILENT
from everflow.eager.context import DEVICE_PLACEMENT_WARN as DEVICE_PLACEMENT_WARN
from everflow.eager.tensor import EagerTensor as EagerTensor
from everflow.eager.variable_store import EagerVariableStore as EagerVariableStore
from everflow.eager.callbacks import ExecutionCallback as ExecutionCallback
from everflow.eager.backprop import GradientTape as GradientTape
from everflow.data.iterators import EagerIterator as _Iterator
Iterator = _Iterator
from everflow.contrib.eager.network import Network as Network
from everflow.eager.context import SYNC as SYNC
from everflow.contrib.eager.saver import Saver as Saver
from everflow.contrib.eager.network import Sequential as Sequential
from everflow.eager.tensor import EagerTensor as _Tensor
Tensor = _Tensor
from everflow.graph.tensor_spec import TensorSpec as TensorSpec
from everflow.ops.variables.resource_variables import ResourceVariable as _Variable
Variable = _Variable
from everflow.eager.callbacks import add_execution_callback as add_execution_callback
from everflow.eager.context import async_clear_error as async_clear_error
from everflow.eager.context import async_wait as async_wait
from everflow.eager.callbacks import clear_execution_callbacks as clear_execution_callbacks
from everflow.eager.remote import connect_to_remote_host as connect_to_remote_host
from everflow.eager.context import _context as _context
context = _context
from everflow.autodiff.custom import custom_gradient as custom_gradient
from everflow.eager.functions import defun as defun
from everflow.eager.context import enable_eager_execution as enable_eager_execution
from everflow.eager.context import enable_remote_eager_execution as enable_remote_eager_execution
from everflow.eager.callbacks import errstate as errstate
from everflow.eager.context import executing_eagerly as executing_eagerly
from everflow.eager.context import execution_mode as execution_mode
from everflow.eager.tensor import from_torch as from_torch
from everflow.eager.functions import function as function
from everflow.contrib.eager.saver import get_optimizer_variables as get_optimizer_variables
from everflow.eager.backprop import gradients_function as gradients_function
from everflow.eager.backprop import implicit_gradients as implicit_gradients
from everflow.eager.backprop import implicit_value_and_gradients as implicit_value_and_gradients
from everflow.eager.context import executing_eagerly as _in_eager_mode
in_eager_mode = _in_eager_mode
from everflow.eager.context import in_graph_mode as in_graph_mode
from everflow.eager.callbacks import inf_callback as inf_callback
from everflow.eager.callbacks import inf_nan_callback as inf_nan_callback
from everflow.eager.context import list_devices as list_devices
from everflow.contrib.eager.saver import make_template_internal as _make_template
make_template = _make_template
from everflow.eager.backprop import make_vjp as make_vjp
from everflow._api.contrib.eager import metrics as metrics
from everflow.eager.callbacks import nan_callback as nan_callback
from everflow.eager.context import num_gpus as num_gpus
from everflow.ops.control_flow.python_functions import eager_py_func as _py_func
py_func = _py_func
from everflow.contrib.eager.network import restore_network_checkpoint as restore_network_checkpoint
from everflow.contrib.eager.saver import restore_variables_on_create as restore_variables_on_create
from everflow.eager.context import run as run
from everflow.test.modes import run_all_in_graph_and_eager_modes as _run_all_tests_in_graph_and_eager_modes
run_all_tests_in_graph_and_eager_modes = _run_all_tests_in_graph_and_eager_modes
from everflow.test.modes import run_in_graph_and_eager_modes as _run_test_in_graph_and_eager_modes
run_test_in_graph_and_eager_modes = _run_test_in_graph_and_eager_modes
from everflow.contrib.eager.network import save_network_checkpoint as save_network_checkpoint
from everflow.eager.context import set_execution_mode as set_execution_mode
from everflow.eager.context import set_server_def as set_server_def
from everflow.eager.callbacks import seterr as seterr
from everflow.eager.backprop import value_and_gradients_function as value_and_gradients_function
