"""Written by `make index`."""
from typing import Any

from everflow.ops.audio.micro_frontend import generated_function as _audio_microfrontend
audio_microfrontend = _audio_microfrontend
