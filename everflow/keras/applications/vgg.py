"""VGG: very deep networks of 3 x 3 convolutions."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.keras.applications.building import CHOLLET, Application, kernel_files
from everflow.keras.applications.imagenet import BELOW, of_keras, preprocess_input
from everflow.keras.layers.convolutional import Conv2D
from everflow.keras.layers.core import Flatten
from everflow.keras.layers.dense import Dense
from everflow.keras.layers.pooling import MaxPooling2D

FILTERS = (64, 128, 256, 512, 512)


def _vgg(name: str, depths: tuple[int, ...], checksums: tuple[str, str], options: dict[str, Any]) -> Any:
    application = Application(options, 224, 32)
    x = application.x
    for block, (depth, filters) in enumerate(zip(depths, FILTERS), 1):
        for i in range(1, depth + 1):
            x = Conv2D(filters, (3, 3), activation="relu", padding="same", name=f"block{block}_conv{i}")(x)
        x = MaxPooling2D((2, 2), strides=(2, 2), name=f"block{block}_pool")(x)
    if application.include_top:
        x = Flatten(name="flatten")(x)
        x = Dense(4096, activation="relu", name="fc1")(x)
        x = Dense(4096, activation="relu", name="fc2")(x)
        x = Dense(application.classes, activation="softmax", name="predictions")(x)
    else:
        x = application.pooled(x)
    return application.model(x, name, CHOLLET + "v0.1/", kernel_files(name, *checksums))


@public(BELOW + "VGG16", BELOW + "vgg16.VGG16")
@of_keras
def VGG16(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: Any = None,
    classes: int = 1000,
) -> Any:
    """VGG with 16 layers of weights."""
    return _vgg(
        "vgg16",
        (2, 2, 3, 3, 3),
        ("64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc"),
        {
            "include_top": include_top,
            "weights": weights,
            "input_tensor": input_tensor,
            "input_shape": input_shape,
            "pooling": pooling,
            "classes": classes,
        },
    )


@public(BELOW + "VGG19", BELOW + "vgg19.VGG19")
@of_keras
def VGG19(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: Any = None,
    classes: int = 1000,
) -> Any:
    """VGG with 19 layers of weights."""
    return _vgg(
        "vgg19",
        (2, 2, 4, 4, 4),
        ("cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6"),
        {
            "include_top": include_top,
            "weights": weights,
            "input_tensor": input_tensor,
            "input_shape": input_shape,
            "pooling": pooling,
            "classes": classes,
        },
    )


@public(
    BELOW + "vgg16.preprocess_input",
    BELOW + "vgg19.preprocess_input",
    BELOW + "resnet.preprocess_input",
    BELOW + "resnet50.preprocess_input",
)
@of_keras
def preprocess_caffe(x: Any, data_format: str | None = None) -> Any:
    """Images as VGG and ResNet expect them: BGR, around zero."""
    return preprocess_input(x, data_format, mode="caffe")


@public(BELOW + "densenet.preprocess_input")
@of_keras
def preprocess_torch(x: Any, data_format: str | None = None) -> Any:
    """Images as DenseNet expects them: with ImageNet's means and deviations."""
    return preprocess_input(x, data_format, mode="torch")


@public(
    *(
        BELOW + f"{name}.preprocess_input"
        for name in ("inception_resnet_v2", "inception_v3", "mobilenet", "mobilenet_v2", "nasnet", "resnet_v2", "xception")
    )
)
@of_keras
def preprocess_tf(x: Any, data_format: str | None = None) -> Any:
    """Images as most models expect them: -1 to 1."""
    return preprocess_input(x, data_format, mode="tf")
