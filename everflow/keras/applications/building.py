"""The common start and end of the models: input, classifier, and stored weights."""

from __future__ import annotations

import os
from typing import Any

from everflow.keras.applications.imagenet import input_shape_for
from everflow.keras.backend.values import is_keras_tensor
from everflow.keras.config import image_data_format
from everflow.keras.downloads import get_file
from everflow.keras.input_layer import Input
from everflow.keras.layers.dense import Dense
from everflow.keras.layers.pooling import GlobalAveragePooling2D, GlobalMaxPooling2D
from everflow.keras.model import Model
from everflow.keras.network_order import get_source_inputs

CHOLLET = "https://github.com/fchollet/deep-learning-models/releases/download/"
KERAS_TEAM = "https://github.com/keras-team/keras-applications/releases/download/"


def channel_axis() -> int:
    """The axis of the channels."""
    return 1 if image_data_format() == "channels_first" else 3


class Application:
    """How a model is asked for: images, classes and weights; `x` is its input tensor."""

    def __init__(self, options: dict[str, Any], default_size: int, min_size: int, flattens: bool | None = None) -> None:
        self.include_top = options.get("include_top", True)
        self.weights = options.get("weights", "imagenet")
        self.pooling = options.get("pooling")
        self.classes = options.get("classes", 1000)
        if self.weights not in ("imagenet", None) and not os.path.exists(self.weights):
            raise ValueError(
                "The `weights` argument should be either `None` (random initialization), `imagenet` (pre-training on "
                "ImageNet), or the path to the weights file to be loaded."
            )
        if self.weights == "imagenet" and self.include_top and self.classes != 1000:
            raise ValueError('If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be 1000')
        self.shape = input_shape_for(
            options.get("input_shape"), default_size, min_size, self.include_top if flattens is None else flattens, self.weights
        )
        given = options.get("input_tensor")
        if given is None:
            self.x = Input(shape=self.shape)
        else:
            self.x = given if is_keras_tensor(given) else Input(tensor=given, shape=self.shape)
        self._given = given

    def classified(self, x: Any, name: str, pool_name: str | None = "avg_pool") -> Any:
        """The end of most models: a mean over the image and a softmax; without a top, what `pooling` asks for."""
        if self.include_top:
            x = GlobalAveragePooling2D(name=pool_name)(x)
            return Dense(self.classes, activation="softmax", name=name)(x)
        return self.pooled(x)

    def pooled(self, x: Any) -> Any:
        """One vector for each image, where it is asked for."""
        if self.pooling == "avg":
            return GlobalAveragePooling2D()(x)
        return GlobalMaxPooling2D()(x) if self.pooling == "max" else x

    def model(
        self, x: Any, name: str, base: str, files: tuple[tuple[str, str | None], tuple[str, str | None]], kept_as: str | None = None
    ) -> Any:
        """The model, with its weights: `files` are the names and checksums of those with and without a top, `kept_as` another name here."""
        inputs = self.x if self._given is None else get_source_inputs(self._given)
        found = Model(inputs, x, name=name)
        if self.weights == "imagenet":
            file, checksum = files[0 if self.include_top else 1]
            kept = file if kept_as is None else kept_as + (".h5" if self.include_top else "_no_top.h5")
            found.load_weights(get_file(kept, base + file, cache_subdir="models", file_hash=checksum))
        elif self.weights is not None:
            found.load_weights(self.weights)
        return found


def kernel_files(name: str, with_top: str | None, without_top: str | None) -> tuple[tuple[str, str | None], tuple[str, str | None]]:
    """The usual names of a model's weight files, with their checksums."""
    stem = f"{name}_weights_tf_dim_ordering_tf_kernels"
    return (stem + ".h5", with_top), (stem + "_notop.h5", without_top)
