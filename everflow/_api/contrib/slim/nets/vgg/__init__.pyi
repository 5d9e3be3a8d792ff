"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.nets.plain import vgg_16 as vgg_16
from everflow.contrib.slim.nets.plain import vgg_19 as vgg_19
from everflow.contrib.slim.nets.plain import vgg_a as vgg_a
from everflow.contrib.slim.nets.plain import vgg_arg_scope as vgg_arg_scope
from everflow.contrib.slim.nets.plain import vgg_16 as _vgg_d
vgg_d = _vgg_d
from everflow.contrib.slim.nets.plain import vgg_19 as _vgg_e
vgg_e = _vgg_e
