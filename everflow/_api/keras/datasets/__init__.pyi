"""Written by `make index`."""
from typing import Any

from everflow._api.keras.datasets import boston_housing as boston_housing
from everflow._api.keras.datasets import cifar10 as cifar10
from everflow._api.keras.datasets import cifar100 as cifar100
from everflow._api.keras.datasets import fashion_mnist as fashion_mnist
from everflow._api.keras.datasets import imdb as imdb
from everflow._api.keras.datasets import mnist as mnist
from everflow._api.keras.datasets import reuters as reuters
