"""What all ImageNet models share: how images are prepared, and what the 1000 classes are called."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.keras.downloads import get_file

BELOW = "keras.applications."
MODULES = ("backend", "layers", "models", "utils")
CLASS_INDEX_URL = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
CLASS_INDEX_MD5 = "c2c37ea517e94d9795004a39431a14cb"
MEANS = (103.939, 116.779, 123.68)
TORCH_MEANS, TORCH_DEVIATIONS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

_classes: dict[str, list[str]] | None = None


def of_keras(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that may be given Keras's own modules as well, which it has no need of."""
    names = {*inspect.signature(function).parameters, *MODULES}

    def with_modules(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in names:
                raise TypeError("Invalid keyword argument: %s", name)
        for module in MODULES:
            kwargs.pop(module, None)
        return function(*args, **kwargs)

    with_modules.__name__, with_modules.__qualname__, with_modules.__doc__ = function.__name__, function.__qualname__, function.__doc__
    return with_modules


@public(BELOW + "imagenet_utils.preprocess_input")
@of_keras
def preprocess_input(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Images (0 to 255) as models expect them: "caffe" is BGR around zero, "tf" is -1 to 1, "torch" has ImageNet's means and deviations."""
    data_format = data_format or tf.keras.backend.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Unknown data_format " + str(data_format))
    axis = -1 if data_format == "channels_last" else -3
    if isinstance(x, np.ndarray):
        return _prepared_array(x, axis, mode)
    return _prepared_tensor(x, axis, mode)


def _prepared_array(x: np.ndarray, axis: int, mode: str) -> np.ndarray:
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(tf.keras.backend.floatx(), copy=False)
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    if mode == "torch":
        x /= 255.0
    else:
        x = np.flip(x, axis)
    shape = [-1] + [1] * (-axis - 1)
    x -= np.reshape(np.array(TORCH_MEANS if mode == "torch" else MEANS, x.dtype), shape)
    if mode == "torch":
        x /= np.reshape(np.array(TORCH_DEVIATIONS, x.dtype), shape)
    return x


def _prepared_tensor(x: Any, axis: int, mode: str) -> Any:
    x = tf.convert_to_tensor(x)
    if not x.dtype.is_floating:
        x = tf.cast(x, tf.keras.backend.floatx())
    if mode == "tf":
        return x / 127.5 - 1.0
    x = x / 255.0 if mode == "torch" else tf.reverse(x, [x.shape.ndims + axis])
    shape = [-1] + [1] * (-axis - 1)
    x = x - tf.reshape(tf.constant(TORCH_MEANS if mode == "torch" else MEANS, x.dtype), shape)
    return x / tf.reshape(tf.constant(TORCH_DEVIATIONS, x.dtype), shape) if mode == "torch" else x


@public(
    BELOW + "imagenet_utils.decode_predictions",
    *(
        BELOW + f"{name}.decode_predictions"
        for name in (
            "densenet",
            "inception_resnet_v2",
            "inception_v3",
            "mobilenet",
            "mobilenet_v2",
            "nasnet",
            "resnet",
            "resnet50",
            "resnet_v2",
            "vgg16",
            "vgg19",
            "xception",
        )
    ),
)
@of_keras
def decode_predictions(preds: Any, top: int = 5) -> list[list[tuple[str, str, float]]]:
    """The likeliest classes of each row: (WordNet id, name, score)."""
    global _classes
    preds = np.asarray(preds)
    if preds.ndim != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). "
            f"Found array with shape: {preds.shape}"
        )
    if _classes is None:
        path = get_file("imagenet_class_index.json", CLASS_INDEX_URL, cache_subdir="models", file_hash=CLASS_INDEX_MD5)
        with open(path) as file:
            _classes = json.load(file)
    return [[(*_classes[str(i)], row[i]) for i in row.argsort()[-top:][::-1]] for row in preds]


def input_shape_for(input_shape: Any, default_size: int, min_size: int, require_flatten: bool, weights: Any) -> tuple[Any, ...]:
    """The shape of the images: as given, where it can be, or the usual one."""
    first = tf.keras.backend.image_data_format() == "channels_first"
    if weights != "imagenet" and input_shape and len(input_shape) == 3:
        channels = input_shape[0] if first else input_shape[-1]
        if channels not in (1, 3):
            warnings.warn(
                f"This model usually expects 1 or 3 input channels. However, it was passed an input_shape with {channels} input channels.",
                stacklevel=4,
            )
        default: tuple[Any, ...] = (channels, default_size, default_size) if first else (default_size, default_size, channels)
    else:
        default = (3, default_size, default_size) if first else (default_size, default_size, 3)
    if weights == "imagenet" and require_flatten:
        if input_shape is not None and tuple(input_shape) != default:
            raise ValueError(f"When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be {default}.")
        return default
    if input_shape:
        if len(input_shape) != 3:
            raise ValueError("`input_shape` must be a tuple of three integers.")
        sizes = input_shape[1:] if first else input_shape[:2]
        if weights == "imagenet" and (input_shape[0] if first else input_shape[-1]) != 3:
            raise ValueError(f"The input must have 3 channels; got `input_shape={input_shape}`")
        if any(size is not None and size < min_size for size in sizes):
            raise ValueError(f"Input size must be at least {min_size}x{min_size}; got `input_shape={input_shape}`")
        found = tuple(input_shape)
    elif require_flatten:
        found = default
    else:
        found = (3, None, None) if first else (None, None, 3)
    if require_flatten and None in found:
        raise ValueError(f"If `include_top` is True, you should specify a static `input_shape`. Got `input_shape={found}`")
    return found
