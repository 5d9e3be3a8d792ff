"""Written by `make index`."""
from typing import Any

from everflow.estimator.tpu_embedding_spec import EmbeddingConfigSpec as EmbeddingConfigSpec
