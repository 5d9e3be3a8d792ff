"""What programs give models, as lists of arrays that fit the inputs and outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue
from everflow.graph.tensor import Tensor
from everflow.keras.config import floatx
from everflow.keras.losses import functions
from everflow.ragged.tensor import RaggedTensor


def is_composite(x: Any) -> bool:
    """Whether a value is sparse or ragged."""
    return isinstance(x, (SparseTensor, SparseTensorValue, RaggedTensor)) or hasattr(x, "tocoo") or hasattr(x, "nested_row_splits")


@internal("keras.engine.training_utils.standardize_single_array")
def standardize_single_array(x: Any, expected_shape: Any = None) -> Any:
    """An array (or tensor) of at least two dimensions, unless one is what is wanted."""
    if isinstance(x, int):
        raise ValueError(f"Expected an array data type but received an integer: {x}")
    is_vector = x is not None and not is_composite(x) and hasattr(x, "shape") and len(x.shape) == 1
    if not is_vector or expected_shape is not None and len(expected_shape) == 1:
        return x
    return tf.expand_dims(x, axis=1) if isinstance(x, Tensor) else np.expand_dims(x, 1)


def _list_of(data: Any, names: list[str], prefix: str) -> list[Any]:
    """The data of each name."""
    if isinstance(data, dict):
        try:
            return [_values(data[name]) for name in names]
        except KeyError as e:
            raise ValueError(f'No data provided for "{e.args[0]}". Need data for each key in: {names}') from None
    # The value of a SparseTensor is a tuple of its parts.
    if isinstance(data, (list, tuple)) and not isinstance(data, SparseTensorValue):
        if len(data) and isinstance(data[0], (list, tuple)) and not isinstance(data[0], SparseTensorValue):
            return [np.asarray(d) for d in data]
        if len(names) == 1 and len(data) and isinstance(data[0], (float, int)):
            return [np.asarray(data)]
        return [_values(x) for x in data]
    return [_values(data)]


def _values(x: Any) -> Any:
    return x.values if type(x).__name__ in ("DataFrame", "Series") else x


@internal("keras.engine.training_utils.standardize_input_data")
def standardize_input_data(
    data: Any, names: list[str], shapes: Any = None, check_batch_axis: bool = True, exception_prefix: str = ""
) -> list[Any]:
    """A list with the array of each name, checked against the shapes that are wanted."""
    if not names:
        if data is not None and hasattr(data, "__len__") and len(data) and not isinstance(data, dict):
            raise ValueError(f"Error when checking model {exception_prefix}: expected no data, but got: {data}")
        return []
    if data is None:
        return [None for _ in names]
    found = _list_of(data, names, exception_prefix)
    if shapes is not None:
        found = [standardize_single_array(x, shape) for x, shape in zip(found, shapes)] + found[len(shapes) :]
    else:
        found = [standardize_single_array(x) for x in found]
    if len(found) != len(names):
        _complain_of_number(data, found, names, exception_prefix)
    if shapes:
        for name, shape, x in zip(names, shapes, found):
            if shape is not None and x is not None:
                _check_shape(x, shape, name, check_batch_axis, exception_prefix)
    return found


def refuse_undeclared(data: Any) -> None:
    """A model that learns of its inputs from data takes these for dense."""
    parts = data.values() if isinstance(data, dict) else data if isinstance(data, (list, tuple)) and not is_composite(data) else [data]
    for x in parts:
        if hasattr(x, "tocoo"):
            raise ValueError(f"Please provide as model inputs either a single array or a list of arrays. You passed: inputs={data}")
        if is_composite(x):
            raise ValueError(
                "All SparseTensor and RaggedTensor inputs must be explicitly declared using a keras.Input() with sparse=True or "
                f"ragged=True. We found an undeclared input {x}. For Sequential models, please add a keras.Input() as your first Layer. "
                "For subclassed models, please call self._set_inputs() on your input set, which you can create using keras.Input() for "
                "each input to your model."
            )


def check_ragged_ranks(data: list[Any], inputs: list[Any]) -> None:
    """Ragged data has as many ragged dimensions as the input that was declared for it."""
    for x, declared in zip(data, inputs):
        ranks = [len(getattr(one, "nested_row_splits", ())) for one in (x, declared)]
        if is_composite(x) and ranks[0] != ranks[1]:
            raise ValueError(
                f"The two structures don't have the same nested structure.\n\nFirst structure: type={type(x).__name__} str={x}\n\n"
                f"Second structure: type={type(declared).__name__} str={declared}"
            )


def _complain_of_number(data: Any, found: list[Any], names: list[str], prefix: str) -> None:
    if found and hasattr(found[0], "shape"):
        raise ValueError(
            f"Error when checking model {prefix}: the list of Numpy arrays that you are passing to your model is not the size the model "
            f"expected. Expected to see {len(names)} array(s), but instead got the following list of {len(found)} arrays: "
            f"{str(data)[:200]}..."
        )
    if len(names) > 1:
        raise ValueError(
            f"Error when checking model {prefix}: you are passing a list as input to your model, but the model expects a list of "
            f"{len(names)} Numpy arrays instead. The list you passed was: {str(data)[:200]}"
        )
    if len(found) == 1 and not hasattr(found[0], "shape"):
        raise TypeError(
            f"Error when checking model {prefix}: data should be a Numpy array, or list/dict of Numpy arrays. Found: {str(data)[:200]}..."
        )
    found[:] = [np.asarray(found)]


def _check_shape(x: Any, shape: Any, name: str, checks_batch: bool, prefix: str) -> None:
    known: Any = x.shape if hasattr(x, "shape") else getattr(x, "dense_shape", None)
    if known is None or getattr(known, "ndims", len(known) if isinstance(known, tuple) else 0) is None:
        return
    sizes = tuple(known.as_list() if hasattr(known, "as_list") else (None if n is None else int(n) for n in known))
    if len(sizes) != len(shape):
        raise ValueError(f"Error when checking {prefix}: expected {name} to have {len(shape)} dimensions, but got array with shape {sizes}")
    if not checks_batch:
        sizes, shape = sizes[1:], shape[1:]
    for size, wanted in zip(sizes, shape):
        if size != wanted and wanted is not None and size is not None:
            raise ValueError(f"Error when checking {prefix}: expected {name} to have shape {tuple(shape)} but got array with shape {sizes}")


@internal("keras.engine.training_utils.standardize_sample_or_class_weights")
def standardize_sample_or_class_weights(x_weight: Any, output_names: list[str], weight_type: str) -> list[Any]:
    """The weights of each output."""
    is_list, number = isinstance(x_weight, (list, tuple)), len(output_names)
    if x_weight is None or is_list and not x_weight:
        return [None] * number
    if is_list and len(x_weight) == number:
        return list(x_weight)
    if number == 1:
        # One output may be given what belongs to it alone.
        (name,) = output_names
        return [x_weight[name] if isinstance(x_weight, dict) and name in x_weight else x_weight]
    if is_list:
        raise ValueError(
            f"Provided `{weight_type}` was a list of {len(x_weight)} elements, but the model has {number} "
            f"outputs. You should provide one `{weight_type}`array per model output."
        )
    if isinstance(x_weight, dict):
        unknown = sorted(str(k) for k in x_weight if k not in output_names)
        if unknown:
            raise ValueError(f"Unknown entries in {weight_type} dictionary: {unknown}. Only expected following keys: {output_names}")
        return [x_weight.get(name) for name in output_names]
    raise TypeError(
        f"The model has multiple outputs, so `{weight_type}` should be either a list or a dict. Provided `{weight_type}` type "
        f"not understood: {x_weight}"
    )


@internal("keras.engine.training_utils.standardize_class_weights")
def standardize_class_weights(class_weight: Any, output_names: list[str]) -> list[Any]:
    """The class weights of each output."""
    return standardize_sample_or_class_weights(class_weight, output_names, "class_weight")


@internal("keras.engine.training_utils.standardize_sample_weights")
def standardize_sample_weights(sample_weight: Any, output_names: list[str]) -> list[Any]:
    """The sample weights of each output."""
    return standardize_sample_or_class_weights(sample_weight, output_names, "sample_weight")


@internal("keras.engine.training_utils.standardize_weights")
def standardize_weights(y: Any, sample_weight: Any = None, class_weight: Any = None, sample_weight_mode: Any = None) -> Any:
    """The weight of each sample: its own, times that of its class."""
    if isinstance(sample_weight, tuple):
        sample_weight = sample_weight[0]
    if sample_weight_mode is not None and sample_weight_mode != "samplewise":
        if sample_weight_mode != "temporal":
            raise ValueError(f'"sample_weight_mode should be None or "temporal". Found: {sample_weight_mode}')
        if len(y.shape) < 3:
            raise ValueError(
                f"Found a sample_weight array for an input with shape {y.shape}. Timestep-wise sample weighting (use of "
                'sample_weight_mode="temporal") is restricted to outputs that are at least 3D, i.e. that have a time '
                "dimension."
            )
        if sample_weight is not None and len(sample_weight.shape) != 2:
            raise ValueError(
                f"Found a sample_weight array with shape {sample_weight.shape}. In order to use timestep-wise sample "
                "weighting, you should pass a 2D sample_weight array."
            )
    elif sample_weight is not None and len(sample_weight.shape) != 1:
        raise ValueError(
            f"Found a sample_weight array with shape {sample_weight.shape}. In order to use timestep-wise sample weights, you should "
            'specify sample_weight_mode="temporal" in compile(). If you just mean to use sample-wise weights, make sure your '
            "sample_weight array is 1D."
        )
    if sample_weight is not None:
        if len(sample_weight.shape) > len(y.shape):
            raise ValueError(
                f"Found a sample_weight with shape{sample_weight.shape}.Expected sample_weight with rank less than or equal "
                f"to {len(y.shape)}"
            )
        if (
            not isinstance(sample_weight, Tensor)
            and not isinstance(y, Tensor)
            and tuple(y.shape[: sample_weight.ndim]) != tuple(sample_weight.shape)
        ):
            raise ValueError(
                f"Found a sample_weight array with shape {sample_weight.shape} for an input with shape {y.shape}. "
                "sample_weight cannot be broadcast."
            )
    by_class = None
    if isinstance(class_weight, dict):
        if len(y.shape) > 2:
            raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
        if isinstance(y, Tensor):
            # Numbers of classes that the table lacks weigh nothing.
            size = max(class_weight) + 1
            table = tf.constant([class_weight.get(i, 0.0) for i in range(size)], dtype=floatx())
            many = len(y.shape) == 2 and y.shape.as_list()[1] != 1
            classes = tf.argmax(y, axis=1) if many else tf.cast(tf.reshape(y, (-1,)), "int64")
            by_class = tf.gather(table, classes)
        else:
            classes = y
            if len(y.shape) == 2:
                classes = np.argmax(y, axis=1) if y.shape[1] > 1 else np.reshape(y, y.shape[0])
            by_class = np.asarray([class_weight[c] for c in classes if c in class_weight])
            if len(by_class) != len(classes):
                missing = set(classes.tolist()) - set(class_weight)
                raise ValueError(
                    f"`class_weight` must contain all classes in the data. The classes {missing} exist in the data but not "
                    "in `class_weight`."
                )
    if by_class is not None:
        by_class = by_class.astype(floatx()) if isinstance(by_class, np.ndarray) else by_class
    if sample_weight is not None:
        if isinstance(sample_weight, np.ndarray):
            sample_weight = sample_weight.astype(floatx())
        return sample_weight * by_class if by_class is not None else sample_weight
    return by_class


@internal("keras.engine.training_utils.check_array_lengths")
def check_array_lengths(inputs: Any, targets: Any, weights: Any = None) -> None:
    """Raises where not all arrays have the same number of samples."""

    def lengths(arrays: Any) -> set[int]:
        found = set()
        for x in arrays or ():
            if x is not None and not isinstance(x, Tensor) and not is_composite(x):
                found.add(x.shape[0])
        return found

    xs, ys, ws = lengths(inputs), lengths(targets), lengths(weights)
    if len(xs) > 1:
        raise ValueError(f"All input arrays (x) should have the same number of samples. Got array shapes: {[x.shape for x in inputs]}")
    if len(ys) > 1:
        raise ValueError(f"All target arrays (y) should have the same number of samples. Got array shapes: {[y.shape for y in targets]}")
    if xs and ys and xs != ys:
        raise ValueError(
            f"Input arrays should have the same number of samples as target arrays. Found {next(iter(xs))} input samples and "
            f"{next(iter(ys))} target samples."
        )
    if len(ws) > 1:
        raise ValueError(
            "All sample_weight arrays should have the same number of samples. Got array shapes: "
            f"{[w.shape for w in weights if w is not None]}"
        )
    if ys and ws and ys != ws:
        raise ValueError(
            f"Sample_weight arrays should have the same number of samples as target arrays. Got {next(iter(ys))} input "
            f"samples and {next(iter(ws))} target samples."
        )


@internal("keras.engine.training_utils.check_loss_and_target_compatibility")
def check_loss_and_target_compatibility(targets: Any, loss_fns: Any, output_shapes: Any) -> None:
    """Raises for targets that a loss can't be meant for."""
    alike = {functions.mean_squared_error, functions.binary_crossentropy, functions.categorical_crossentropy}
    for y, loss, shape in zip(targets, loss_fns, output_shapes):
        if y is None or loss is None or isinstance(y, Tensor) or is_composite(y):
            continue
        fn = getattr(loss, "fn", loss)
        if fn is functions.categorical_crossentropy and y.shape[-1] == 1:
            raise ValueError(
                f"You are passing a target array of shape {y.shape} while using as loss `categorical_crossentropy`. "
                "`categorical_crossentropy` expects targets to be binary matrices (1s and 0s) of shape (samples, classes). If your "
                "targets are integer classes, you can convert them to the expected format via:\n```\nfrom keras.utils import "
                "to_categorical\ny_binary = to_categorical(y_int)\n```\n\nAlternatively, you can use the loss function "
                "`sparse_categorical_crossentropy` instead, which does expect integer targets."
            )
        if shape is not None and (fn in alike or fn is functions.sparse_categorical_crossentropy):
            for size, wanted in zip(y.shape[1:], shape[1:]):
                if wanted is not None and size != wanted and fn in alike:
                    raise ValueError(
                        f"A target array with shape {y.shape} was passed for an output of shape {shape} while using as loss "
                        f"`{getattr(loss, 'name', None) or fn.__name__}`. This loss expects targets to have the same shape "
                        "as the output."
                    )


@internal("keras.engine.training_utils.generic_output_names")
def generic_output_names(outputs_list: Any) -> list[str]:
    """Names for outputs that have none."""
    return [f"output_{i + 1}" for i in range(len(outputs_list))]


@internal("keras.engine.training_utils.check_num_samples")
def check_num_samples(ins: Any, batch_size: Any = None, steps: Any = None, steps_name: str = "steps") -> Any:
    """How many samples arrays hold; None where steps say when an epoch ends."""
    if None not in (steps, batch_size):
        raise ValueError(f"If {steps_name} is set, the `batch_size` must be None.")
    counted = not check_steps_argument(ins, steps, steps_name) and hasattr(ins[0], "shape")
    return int(ins[0].shape[0]) if counted else None


@internal("keras.engine.training_utils.check_steps_argument")
def check_steps_argument(input_data: Any, steps: Any, steps_name: str) -> bool:
    """Whether steps are needed: where the data are symbolic tensors or none. Raises where they are missing then."""
    tensors = any(isinstance(x, Tensor) and not x.is_eager for x in nest.flatten(input_data)) if input_data is not None else True
    if input_data is None or tensors or isinstance(input_data, list) and not input_data:
        if steps is None:
            raise ValueError(f"When using data tensors as input to a model, you should specify the `{steps_name}` argument.")
        return True
    return False
