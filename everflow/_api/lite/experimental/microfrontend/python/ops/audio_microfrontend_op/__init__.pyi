"""Written by `make index`."""
from typing import Any

from everflow.ops.audio.micro_frontend import audio_microfrontend as audio_microfrontend
