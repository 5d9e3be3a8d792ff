"""Written by `make index`."""
from typing import Any

DESCRIPTOR: Any
from everflow.contrib.projector import EmbeddingInfo as EmbeddingInfo
from everflow.contrib.projector import ProjectorConfig as ProjectorConfig
from everflow.contrib.projector import SpriteMetadata as SpriteMetadata
absolute_import: Any
division: Any
print_function: Any
from everflow.contrib.projector import projector_config_pb2 as projector_config_pb2
from everflow.contrib.projector import visualize_embeddings as visualize_embeddings
