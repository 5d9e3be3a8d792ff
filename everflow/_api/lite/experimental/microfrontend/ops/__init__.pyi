"""Written by `make index`."""
from typing import Any

from everflow._api.lite.experimental.microfrontend.ops import gen_audio_microfrontend_op as gen_audio_microfrontend_op
