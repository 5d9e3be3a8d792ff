"""Written by `make index`."""
from typing import Any

from everflow.ops.audio.micro_frontend import audio_microfrontend as audio_microfrontend
from everflow._api.lite.experimental.microfrontend.python.ops import audio_microfrontend_op as audio_microfrontend_op
