"""Written by `make index`."""
from typing import Any

absolute_import: Any
from everflow.estimator.compiled_model_fn import check_function_argument_count as check_function_argument_count
from everflow.ops.control_flow.compiled import compile as compile
division: Any
from everflow.estimator.compiled_model_fn import estimator_model_fn as estimator_model_fn
print_function: Any
