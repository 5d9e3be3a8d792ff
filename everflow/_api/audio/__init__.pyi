"""Written by `make index`."""
from typing import Any

from everflow.ops.audio.sounds import decode_wav as decode_wav
from everflow.ops.audio.sounds import encode_wav as encode_wav
