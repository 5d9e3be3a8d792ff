"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.slim.nets import alexnet as alexnet
from everflow._api.contrib.slim.nets import inception as inception
from everflow._api.contrib.slim.nets import overfeat as overfeat
from everflow._api.contrib.slim.nets import resnet_utils as resnet_utils
from everflow._api.contrib.slim.nets import resnet_v1 as resnet_v1
from everflow._api.contrib.slim.nets import resnet_v2 as resnet_v2
from everflow._api.contrib.slim.nets import vgg as vgg
