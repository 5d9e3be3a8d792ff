"""Written by `make index`."""
from typing import Any

from everflow.ops.random.numbers import stateless_multinomial as stateless_multinomial
from everflow.ops.random.numbers import stateless_random_normal as stateless_random_normal
from everflow.ops.random.numbers import stateless_random_uniform as stateless_random_uniform
from everflow.ops.random.numbers import stateless_truncated_normal as stateless_truncated_normal
