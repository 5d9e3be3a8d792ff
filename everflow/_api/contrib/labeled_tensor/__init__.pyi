"""Written by `make index`."""
from typing import Any

from everflow.contrib.labeled_tensor.axes import Axes as Axes
from everflow.contrib.labeled_tensor.axes import Axis as Axis
from everflow.contrib.labeled_tensor.axes import AxisOrderError as AxisOrderError
from everflow.contrib.labeled_tensor.functions import FixedLenFeature as FixedLenFeature
from everflow.contrib.labeled_tensor.core import LabeledTensor as LabeledTensor
from everflow.contrib.labeled_tensor.functions import ReshapeCoder as ReshapeCoder
abs: Any
absolute_import: Any
acos: Any
add: Any
from everflow.contrib.labeled_tensor.core import align as align
from everflow.contrib.labeled_tensor.axes import as_axis as as_axis
asin: Any
atan: Any
from everflow.contrib.labeled_tensor.axes import axis_order_scope as axis_order_scope
from everflow.contrib.labeled_tensor.functions import batch as batch
from everflow.contrib.labeled_tensor.functions import boolean_mask as boolean_mask
from everflow.contrib.labeled_tensor.functions import cast as cast
ceil: Any
from everflow.contrib.labeled_tensor.core import check_axis_order as check_axis_order
from everflow.contrib.labeled_tensor.functions import concat as concat
from everflow.contrib.labeled_tensor.functions import constant as constant
from everflow.contrib.labeled_tensor.core import convert_to_labeled_tensor as convert_to_labeled_tensor
cos: Any
from everflow.contrib.labeled_tensor.core import define_binary_op as define_binary_op
from everflow.contrib.labeled_tensor.functions import define_reduce_op as define_reduce_op
from everflow.contrib.labeled_tensor.core import define_unary_op as define_unary_op
digamma: Any
div: Any
division: Any
equal: Any
erf: Any
erfc: Any
exp: Any
from everflow.contrib.labeled_tensor.core import expand_dims as expand_dims
floor: Any
from everflow.contrib.labeled_tensor.functions import foldl as foldl
greater: Any
greater_equal: Any
from everflow.contrib.labeled_tensor.core import identity as identity
igamma: Any
igammac: Any
from everflow.contrib.labeled_tensor.core import impose_axis_order as impose_axis_order
less: Any
less_equal: Any
lgamma: Any
log: Any
logical_and: Any
logical_not: Any
logical_or: Any
logical_xor: Any
from everflow.contrib.labeled_tensor.functions import map_fn as map_fn
from everflow.contrib.labeled_tensor.functions import matmul as matmul
maximum: Any
minimum: Any
mod: Any
mul: Any
neg: Any
not_equal: Any
from everflow.contrib.labeled_tensor.functions import ones_like as ones_like
from everflow.contrib.labeled_tensor.functions import pack as pack
from everflow.contrib.labeled_tensor.functions import pad as pad
from everflow.contrib.labeled_tensor.functions import parse_example as parse_example
from everflow.contrib.labeled_tensor.functions import parse_single_example as parse_single_example
from everflow.contrib.labeled_tensor.functions import placeholder as placeholder
from everflow.contrib.labeled_tensor.core import _function as _polygamma
polygamma = _polygamma
pow: Any
print_function: Any
from everflow.contrib.labeled_tensor.functions import random_crop as random_crop
reciprocal: Any
reduce_all: Any
reduce_any: Any
reduce_logsumexp: Any
reduce_max: Any
reduce_mean: Any
reduce_min: Any
reduce_prod: Any
reduce_sum: Any
from everflow.contrib.labeled_tensor.functions import rename_axis as rename_axis
from everflow.contrib.labeled_tensor.functions import reshape as reshape
round: Any
rsqrt: Any
from everflow.contrib.labeled_tensor.functions import select as select
from everflow.contrib.labeled_tensor.functions import shuffle_batch as shuffle_batch
sigmoid: Any
sign: Any
sin: Any
from everflow.contrib.labeled_tensor.core import slice_function as _slice
slice = _slice
sqrt: Any
square: Any
squared_difference: Any
from everflow.contrib.labeled_tensor.functions import squeeze as squeeze
sub: Any
tan: Any
tanh: Any
from everflow.contrib.labeled_tensor.functions import tile as tile
from everflow.contrib.labeled_tensor.core import transpose as transpose
from everflow.contrib.labeled_tensor.functions import unpack as unpack
from everflow.contrib.labeled_tensor.functions import verify_tensor_all_finite as verify_tensor_all_finite
from everflow.contrib.labeled_tensor.functions import where as where
from everflow.contrib.labeled_tensor.functions import zeros_like as zeros_like
zeta: Any
