"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.nets.resnet_utils import Block as Block
from everflow.contrib.slim.nets.resnet_utils import conv2d_same as conv2d_same
from everflow.contrib.slim.nets.resnet_utils import resnet_arg_scope as resnet_arg_scope
from everflow.contrib.slim.nets.resnet_utils import stack_blocks_dense as stack_blocks_dense
from everflow.contrib.slim.nets.resnet_utils import subsample as subsample
