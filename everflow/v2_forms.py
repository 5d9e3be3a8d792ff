"""Functions of tf.compat.v2 that differ from those of version 1 in how their arguments are named and ordered."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from everflow.api import find, public
from everflow.graph import dtypes

_AXIS = "input_tensor, axis=None, keepdims=False, name=None"
_COMPARED = "x, y, message=None, summarize=None, name=None"
_CHECKED = "x, message=None, summarize=None, name=None"
_SEGMENTS = "data, indices, segment_ids, num_segments=None, name=None"

# {name: its parameters}, with those that always have a value beside them.
FORMS: dict[str, str] = {
    "argmax": "input, axis=None, output_type=int64, name=None",
    "argmin": "input, axis=None, output_type=int64, name=None",
    "assert_equal": _COMPARED,
    "assert_greater": _COMPARED,
    "assert_less": _COMPARED,
    "assert_rank": "x, rank, message=None, name=None",
    "case": "pred_fn_pairs, default=None, exclusive=False, strict=False, name='case'",
    "debugging.assert_greater_equal": _COMPARED,
    "debugging.assert_less_equal": _COMPARED,
    "debugging.assert_none_equal": _COMPARED,
    "debugging.assert_integer": "x, message=None, name=None",
    "debugging.assert_near": "x, y, rtol=None, atol=None, message=None, summarize=None, name=None",
    "debugging.assert_negative": _CHECKED,
    "debugging.assert_non_negative": _CHECKED,
    "debugging.assert_non_positive": _CHECKED,
    "debugging.assert_positive": _CHECKED,
    "debugging.assert_rank_at_least": "x, rank, message=None, name=None",
    "debugging.assert_rank_in": "x, ranks, message=None, name=None",
    "debugging.assert_scalar": "tensor, message=None, name=None",
    "debugging.assert_type": "tensor, tf_type, message=None, name=None",
    "debugging.assert_shapes": "shapes, data=None, summarize=None, message=None, name=None",
    "hessians": "ys, xs, gate_gradients=False, aggregation_method=None, name='hessians'",
    "gradients": "ys, xs, grad_ys=None, name='gradients', gate_gradients=False, aggregation_method=None, stop_gradients=None, "
    "unconnected_gradients=None",
    "io.decode_csv": "records, record_defaults, field_delim=',', use_quote_delim=True, na_value='', select_cols=None, name=None",
    "io.parse_example": "serialized, features, example_names=None, name=None",
    "io.parse_single_example": "serialized, features, example_names=None, name=None",
    "math.count_nonzero": "input, axis=None, keepdims=None, dtype=int64, name=None",
    "math.l2_normalize": "x, axis=None, epsilon=1e-12, name=None",
    "math.log_softmax": "logits, axis=None, name=None",
    "math.softmax": "logits, axis=None, name=None",
    "math.reduce_all": _AXIS,
    "math.reduce_any": _AXIS,
    "math.reduce_logsumexp": _AXIS,
    "math.reduce_max": _AXIS,
    "math.reduce_mean": _AXIS,
    "math.reduce_min": _AXIS,
    "math.reduce_prod": _AXIS,
    "math.reduce_sum": _AXIS,
    "math.scalar_mul": "scalar, x, name=None",
    "math.in_top_k": "targets, predictions, k, name=None",
    "nn.avg_pool2d": "input, ksize, strides, padding, data_format='NHWC', name=None",
    "nn.batch_norm_with_global_normalization": "input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None",
    "nn.conv1d": "input, filters, stride, padding, data_format='NWC', dilations=None, name=None",
    "nn.conv2d": "input, filters, strides, padding, data_format='NHWC', dilations=None, name=None",
    "nn.conv2d_transpose": "input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None, name=None",
    "nn.conv3d": "input, filters, strides, padding, data_format='NDHWC', dilations=None, name=None",
    "nn.convolution": "input, filters, strides=None, padding='VALID', data_format=None, dilations=None, name=None",
    "nn.crelu": "features, axis=-1, name=None",
    "nn.depthwise_conv2d": "input, filter, strides, padding, data_format=None, dilations=None, name=None",
    "nn.max_pool_with_argmax": "input, ksize, strides, padding, data_format='NHWC', output_dtype=int64, include_batch_in_index=False, name=None",
    "nn.moments": "x, axes, shift=None, keepdims=False, name=None",
    "nn.pool": "input, window_shape, pooling_type, strides=None, padding='VALID', data_format=None, dilations=None, name=None",
    "nn.separable_conv2d": "input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None",
    "nn.sigmoid_cross_entropy_with_logits": "labels=None, logits=None, name=None",
    "nn.sparse_softmax_cross_entropy_with_logits": "labels, logits, name=None",
    "nn.sufficient_statistics": "x, axes, shift=None, keepdims=False, name=None",
    "nn.weighted_cross_entropy_with_logits": "labels, logits, pos_weight, name=None",
    "nn.weighted_moments": "x, axes, frequency_weights, keepdims=False, name=None",
    "random.poisson": "shape, lam, dtype=float32, seed=None, name=None",
    "sparse.segment_mean": _SEGMENTS,
    "sparse.segment_sqrt_n": _SEGMENTS,
    "sparse.segment_sum": _SEGMENTS,
    "strings.length": "input, unit='BYTE', name=None",
    "strings.reduce_join": "inputs, axis=None, keepdims=False, separator='', name=None",
    "strings.substr": "input, pos, len, unit='BYTE', name=None",
    "strings.to_hash_bucket": "input, num_buckets, name=None",
    "strings.to_number": "input, out_type=float32, name=None",
    "tuple": "tensors, control_inputs=None, name=None",
    "cond": "pred, true_fn=None, false_fn=None, name=None",
    "while_loop": "cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False, "
    "maximum_iterations=None, name=None",
    "nn.safe_embedding_lookup_sparse": "embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None, max_norm=None, name=None",
}
# The other names of the same functions.
ALIASES = {
    "math.argmax": "argmax",
    "math.argmin": "argmin",
    "debugging.assert_equal": "assert_equal",
    "debugging.assert_greater": "assert_greater",
    "debugging.assert_less": "assert_less",
    "debugging.assert_rank": "assert_rank",
    "linalg.l2_normalize": "math.l2_normalize",
    "nn.l2_normalize": "math.l2_normalize",
    "nn.log_softmax": "math.log_softmax",
    "nn.softmax": "math.softmax",
    "nn.in_top_k": "math.in_top_k",
    "scalar_mul": "math.scalar_mul",
    **{name.removeprefix("math."): name for name in FORMS if name.startswith("math.reduce_")},
}
# What version 2 does without being asked.
ALWAYS: dict[str, dict[str, Any]] = {
    "cond": {"strict": True},
    "while_loop": {"return_same_structure": True},
    "nn.safe_embedding_lookup_sparse": {"partition_strategy": "div"},
}
# Functions whose name is another in version 1.
OTHERWISE = {
    "sparse.segment_mean": "sparse_segment_mean",
    "sparse.segment_sqrt_n": "sparse_segment_sqrt_n",
    "sparse.segment_sum": "sparse_segment_sum",
}
# What parameters were called in version 1, where it does not know the new names.
RENAMED = {
    "filters": "filter",
    "input": "value",
    "dilations": "dilation_rate",
    "keepdims": "keep_dims",
    "output_dtype": "Targmax",
    "labels": "targets",
}


def _form(name: str, parameters: str) -> Callable[..., Any]:
    signature = inspect.signature(eval(f"lambda {parameters}: None", {"int64": dtypes.int64, "float32": dtypes.float32}))
    always = ALWAYS.get(name, {})

    @functools.cache
    def of_version_1() -> tuple[Any, frozenset[str]]:
        function = find(OTHERWISE.get(name, name))
        return function, frozenset(inspect.signature(function).parameters)

    def called(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        function, taken = of_version_1()
        # Version 1 has defaults of its own where version 2 has None.
        given = {key if key in taken else RENAMED[key]: value for key, value in bound.arguments.items() if value is not None}
        return function(**given, **always)

    called.__name__ = called.__qualname__ = name.rpartition(".")[2]
    called.__doc__ = f"`tf.{name}` with the arguments of version 2."
    called.__signature__ = signature  # type: ignore[attr-defined]
    return called


for _name, _parameters in FORMS.items():
    public("compat.v2." + _name, *(f"compat.v2.{other}" for other, one in ALIASES.items() if one == _name))(_form(_name, _parameters))


@public("compat.v2.device")
def device(device_name: Any) -> Any:
    """Where ops are placed: a device, or None; version 2 takes no functions."""
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return find("device")(device_name)
