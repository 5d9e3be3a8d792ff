"""Written by `make index`."""
from typing import Any

from everflow.ops.parsing.proto_ops import decode_proto as decode_proto
from everflow.ops.parsing.proto_ops import encode_proto as encode_proto
