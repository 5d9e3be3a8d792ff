"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.nets.resnet import bottleneck_v1 as _bottleneck
bottleneck = _bottleneck
from everflow.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from everflow.contrib.slim.nets.resnet import resnet_v1 as resnet_v1
from everflow.contrib.slim.nets.resnet import resnet_v1_101 as resnet_v1_101
from everflow.contrib.slim.nets.resnet import resnet_v1_152 as resnet_v1_152
from everflow.contrib.slim.nets.resnet import resnet_v1_200 as resnet_v1_200
from everflow.contrib.slim.nets.resnet import resnet_v1_50 as resnet_v1_50
from everflow.contrib.slim.nets.resnet import resnet_v1_block as resnet_v1_block
