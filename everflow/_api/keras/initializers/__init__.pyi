"""Written by `make index`."""
from typing import Any

from everflow.ops.variables.initializers import Constant as Constant
from everflow.ops.variables.initializers import Identity as Identity
from everflow.ops.variables.initializers import Initializer as Initializer
from everflow.ops.variables.initializers import Ones as Ones
from everflow.ops.variables.orthogonal_initializers import Orthogonal as Orthogonal
from everflow.ops.variables.initializers import KerasRandomNormal as _RandomNormal
RandomNormal = _RandomNormal
from everflow.ops.variables.initializers import KerasRandomUniform as _RandomUniform
RandomUniform = _RandomUniform
from everflow.ops.variables.initializers import KerasTruncatedNormal as _TruncatedNormal
TruncatedNormal = _TruncatedNormal
from everflow.ops.variables.initializers import VarianceScaling as VarianceScaling
from everflow.ops.variables.initializers import Zeros as Zeros
from everflow.ops.variables.initializers import Constant as _constant
constant = _constant
from everflow.keras.initializers import deserialize as deserialize
from everflow.keras.initializers import get as get
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
from everflow.ops.variables.initializers import KerasRandomNormal as _normal
normal = _normal
from everflow.ops.variables.initializers import Ones as _ones
ones = _ones
from everflow.ops.variables.orthogonal_initializers import Orthogonal as _orthogonal
orthogonal = _orthogonal
from everflow.ops.variables.initializers import KerasRandomNormal as _random_normal
random_normal = _random_normal
from everflow.ops.variables.initializers import KerasRandomUniform as _random_uniform
random_uniform = _random_uniform
from everflow.keras.initializers import serialize as serialize
from everflow.ops.variables.initializers import KerasTruncatedNormal as _truncated_normal
truncated_normal = _truncated_normal
from everflow.ops.variables.initializers import KerasRandomUniform as _uniform
uniform = _uniform
from everflow.ops.variables.initializers import Zeros as _zeros
zeros = _zeros
