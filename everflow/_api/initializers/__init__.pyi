"""Written by `make index`."""
from typing import Any

from everflow.ops.variables.initializers import Constant as _constant
constant = _constant
from everflow.ops.variables.sets import global_variables_initializer as _global_variables
global_variables = _global_variables
from everflow.ops.variables.initializers import GlorotNormal as _glorot_normal
glorot_normal = _glorot_normal
from everflow.ops.variables.initializers import GlorotUniform as _glorot_uniform
glorot_uniform = _glorot_uniform
from everflow.ops.variables.initializers import he_normal as he_normal
from everflow.ops.variables.initializers import he_uniform as he_uniform
from everflow.ops.variables.initializers import Identity as _identity
identity = _identity
from everflow.ops.variables.initializers import lecun_normal as lecun_normal
from everflow.ops.variables.initializers import lecun_uniform as lecun_uniform
from everflow.ops.variables.sets import local_variables_initializer as _local_variables
local_variables = _local_variables
from everflow.ops.variables.initializers import Ones as _ones
ones = _ones
from everflow.ops.variables.orthogonal_initializers import Orthogonal as _orthogonal
orthogonal = _orthogonal
from everflow.ops.variables.initializers import RandomNormal as _random_normal
random_normal = _random_normal
from everflow.ops.variables.initializers import RandomUniform as _random_uniform
random_uniform = _random_uniform
from everflow.lookup.tables import tables_initializer as tables_initializer
from everflow.ops.variables.initializers import TruncatedNormal as _truncated_normal
truncated_normal = _truncated_normal
from everflow.ops.variables.initializers import UniformUnitScaling as _uniform_unit_scaling
uniform_unit_scaling = _uniform_unit_scaling
from everflow.ops.variables.sets import variables_initializer as _variables
variables = _variables
from everflow.ops.variables.initializers import VarianceScaling as _variance_scaling
variance_scaling = _variance_scaling
from everflow.ops.variables.initializers import Zeros as _zeros
zeros = _zeros
