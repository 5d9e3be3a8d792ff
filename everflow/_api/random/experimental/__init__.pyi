"""Written by `make index`."""
from typing import Any

from everflow.random_generators import Generator as Generator
from everflow.random_generators import create_rng_state as create_rng_state
from everflow.random_generators import get_global_generator as get_global_generator
from everflow.random_generators import set_global_generator as set_global_generator
