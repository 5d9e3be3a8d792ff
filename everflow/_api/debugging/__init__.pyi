"""Written by `make index`."""
from typing import Any

from everflow.ops.control_flow.ordering import Assert as Assert
from everflow.ops.checks.numerics import verify_tensor_all_finite as _assert_all_finite
assert_all_finite = _assert_all_finite
from everflow.ops.checks.assertions import assert_equal as assert_equal
from everflow.ops.checks.assertions import assert_greater as assert_greater
from everflow.ops.checks.assertions import assert_greater_equal as assert_greater_equal
from everflow.ops.checks.assertions import assert_integer as assert_integer
from everflow.ops.checks.assertions import assert_less as assert_less
from everflow.ops.checks.assertions import assert_less_equal as assert_less_equal
from everflow.ops.checks.assertions import assert_near as assert_near
from everflow.ops.checks.assertions import assert_negative as assert_negative
from everflow.ops.checks.assertions import assert_non_negative as assert_non_negative
from everflow.ops.checks.assertions import assert_non_positive as assert_non_positive
from everflow.ops.checks.assertions import assert_none_equal as assert_none_equal
from everflow.ops.checks.assertions import assert_positive as assert_positive
from everflow.ops.checks.assertions import assert_proper_iterable as assert_proper_iterable
from everflow.ops.checks.shape_checks import assert_rank as assert_rank
from everflow.ops.checks.shape_checks import assert_rank_at_least as assert_rank_at_least
from everflow.ops.checks.shape_checks import assert_rank_in as assert_rank_in
from everflow.ops.checks.assertions import assert_same_float_dtype as assert_same_float_dtype
from everflow.ops.checks.assertions import assert_scalar as assert_scalar
from everflow.ops.checks.shape_checks import assert_shapes as assert_shapes
from everflow.ops.checks.assertions import assert_type as assert_type
from everflow.ops.checks.promises import check_numerics as check_numerics
from everflow.eager.context import get_log_device_placement as get_log_device_placement
from everflow.ops.math.elementwise import is_finite as is_finite
from everflow.ops.math.elementwise import is_inf as is_inf
from everflow.ops.math.elementwise import is_nan as is_nan
from everflow.ops.checks.assertions import is_non_decreasing as is_non_decreasing
from everflow.ops.checks.assertions import is_numeric_tensor as is_numeric_tensor
from everflow.ops.checks.assertions import is_strictly_increasing as is_strictly_increasing
from everflow.eager.context import set_log_device_placement as set_log_device_placement
