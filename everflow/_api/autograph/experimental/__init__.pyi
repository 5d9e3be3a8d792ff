"""Written by `make index`."""
from typing import Any

from everflow.autograph.features import Feature as Feature
from everflow.autograph.conversion_api import do_not_convert as do_not_convert
from everflow.autograph.conversion_api import set_loop_options as set_loop_options
