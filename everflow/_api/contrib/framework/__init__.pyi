"""Written by `make index`."""
from typing import Any

from everflow.graph.tensor_spec import BoundedTensorSpec as BoundedTensorSpec
from everflow.graph.statistics import OpStats as OpStats
from everflow.ops.files.record_input import RecordInput as RecordInput
from everflow.graph.statistics import RegisterStatistics as RegisterStatistics
from everflow.graph.tensor_spec import TensorSpec as TensorSpec
from everflow.contrib.framework.variables import VariableDeviceChooser as VariableDeviceChooser
from everflow.contrib.framework.arg_scopes import add_arg_scope as add_arg_scope
from everflow.contrib.framework.variables import add_model_variable as add_model_variable
from everflow.contrib.framework.arg_scopes import arg_scope as arg_scope
from everflow.contrib.framework.arg_scopes import arg_scoped_arguments as arg_scoped_arguments
argsort: Any
from everflow.train.global_step import assert_global_step as assert_global_step
from everflow.train.global_step import assert_or_get_global_step as assert_or_get_global_step
from everflow.ops.checks.assertions import assert_same_float_dtype as assert_same_float_dtype
assert_scalar: Any
from everflow.contrib.framework.tensors import assert_scalar_int as assert_scalar_int
from everflow.contrib.framework.variables import assign_from_checkpoint as assign_from_checkpoint
from everflow.contrib.framework.variables import assign_from_checkpoint_fn as assign_from_checkpoint_fn
from everflow.contrib.framework.variables import assign_from_values as assign_from_values
from everflow.contrib.framework.variables import assign_from_values_fn as assign_from_values_fn
convert_to_tensor_or_sparse_tensor: Any
from everflow.ops.variables.orthogonal_initializers import ConvolutionDeltaOrthogonal as _convolutional_delta_orthogonal
convolutional_delta_orthogonal = _convolutional_delta_orthogonal
from everflow.ops.variables.orthogonal_initializers import ConvolutionOrthogonal1D as _convolutional_orthogonal_1d
convolutional_orthogonal_1d = _convolutional_orthogonal_1d
from everflow.ops.variables.orthogonal_initializers import ConvolutionOrthogonal2D as _convolutional_orthogonal_2d
convolutional_orthogonal_2d = _convolutional_orthogonal_2d
from everflow.ops.variables.orthogonal_initializers import ConvolutionOrthogonal3D as _convolutional_orthogonal_3d
convolutional_orthogonal_3d = _convolutional_orthogonal_3d
from everflow.train.global_step import create_global_step as create_global_step
from everflow.contrib.framework.arg_scopes import current_arg_scope as current_arg_scope
from everflow.platform.deprecation import deprecated as deprecated
from everflow.platform.deprecation import deprecated_arg_values as deprecated_arg_values
from everflow.platform.deprecation import deprecated_args as deprecated_args
from everflow.contrib.framework.variables import filter_variables as filter_variables
from everflow.contrib.framework.fusing import fuse_op as fuse_op
from everflow.train.global_step import get_global_step as get_global_step
from everflow.contrib.framework.tensors import get_graph_from_inputs as get_graph_from_inputs
from everflow.contrib.framework.variables import get_local_variables as get_local_variables
from everflow.contrib.framework.variables import get_model_variables as get_model_variables
from everflow.contrib.framework.tensors import get_name_scope as get_name_scope
from everflow.train.global_step import get_or_create_global_step as get_or_create_global_step
from everflow.contrib.framework.tensors import get_placeholders as get_placeholders
from everflow.contrib.framework.variables import get_trainable_variables as get_trainable_variables
from everflow.contrib.framework.variables import get_unique_variable as get_unique_variable
from everflow.contrib.framework.variables import get_variable_full_name as get_variable_full_name
from everflow.contrib.framework.variables import get_variables as get_variables
from everflow.contrib.framework.variables import get_variables_by_name as get_variables_by_name
from everflow.contrib.framework.variables import get_variables_by_suffix as get_variables_by_suffix
from everflow.contrib.framework.variables import get_variables_to_restore as get_variables_to_restore
from everflow.contrib.framework.variables import global_variable as global_variable
from everflow.contrib.framework.arg_scopes import has_arg_scope as has_arg_scope
from everflow.train.checkpoints.initializing import init_from_checkpoint as init_from_checkpoint
from everflow.graph.convert import is_tensor as is_tensor
from everflow.train.checkpoints.reader import list_variables as list_variables
from everflow.contrib.framework.checkpoint_initializers import load_and_remap_matrix_initializer as load_and_remap_matrix_initializer
from everflow.train.checkpoints.reader import load_checkpoint as load_checkpoint
from everflow.contrib.framework.checkpoint_initializers import load_embedding_initializer as load_embedding_initializer
from everflow.contrib.framework.checkpoint_initializers import load_linear_multiclass_bias_initializer as load_linear_multiclass_bias_initializer
from everflow.train.checkpoints.reader import load_variable as load_variable
from everflow.contrib.framework.checkpoint_initializers import load_variable_slot_initializer as load_variable_slot_initializer
from everflow.contrib.framework.variables import local_variable as local_variable
from everflow.contrib.framework.variables import model_variable as model_variable
from everflow._api.contrib.framework import nest as nest
from everflow.contrib.framework.tensors import prepend_name_scope as prepend_name_scope
from everflow.contrib.framework.script_ops import py_func as py_func
from everflow._api.contrib.framework import python as python
from everflow.contrib.framework.tensors import reduce_sum_n as reduce_sum_n
from everflow.runtime.fetches import register_session_run_conversion_functions as register_session_run_conversion_functions
from everflow.contrib.framework.tensors import remove_squeezable_dimensions as remove_squeezable_dimensions
from everflow.runtime.smart_conditionals import smart_case as smart_case
from everflow.runtime.smart_conditionals import smart_cond as smart_cond
from everflow.runtime.smart_conditionals import smart_constant_value as smart_constant_value
sort: Any
from everflow.contrib.framework.tensors import strip_name_scope as strip_name_scope
from everflow.contrib.framework.variables import variable as variable
from everflow.contrib.framework.tensors import with_same_shape as with_same_shape
from everflow.contrib.framework.tensors import with_shape as with_shape
from everflow.contrib.framework.variables import zero_initializer as zero_initializer
