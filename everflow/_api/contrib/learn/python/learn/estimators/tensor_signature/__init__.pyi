"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.tensor_signatures import TensorSignature as TensorSignature
from everflow.contrib.learn.tensor_signatures import create_example_parser_from_signatures as create_example_parser_from_signatures
from everflow.contrib.learn.tensor_signatures import create_placeholders_from_signatures as create_placeholders_from_signatures
from everflow.contrib.learn.tensor_signatures import create_signatures as create_signatures
from everflow.contrib.learn.tensor_signatures import tensors_compatible as tensors_compatible
