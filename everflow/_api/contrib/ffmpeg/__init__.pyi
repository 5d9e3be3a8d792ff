"""Written by `make index`."""
from typing import Any

from everflow.contrib.ffmpeg import decode_audio as decode_audio
from everflow.contrib.ffmpeg import decode_video as decode_video
from everflow.contrib.ffmpeg import encode_audio as encode_audio
