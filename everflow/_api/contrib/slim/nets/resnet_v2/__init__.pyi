"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.nets.resnet import bottleneck_v2 as _bottleneck
bottleneck = _bottleneck
from everflow.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from everflow.contrib.slim.nets.resnet import resnet_v2 as resnet_v2
from everflow.contrib.slim.nets.resnet import resnet_v2_101 as resnet_v2_101
from everflow.contrib.slim.nets.resnet import resnet_v2_152 as resnet_v2_152
from everflow.contrib.slim.nets.resnet import resnet_v2_200 as resnet_v2_200
from everflow.contrib.slim.nets.resnet import resnet_v2_50 as resnet_v2_50
from everflow.contrib.slim.nets.resnet import resnet_v2_block as resnet_v2_block
