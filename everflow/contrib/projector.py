"""Which embeddings TensorBoard's projector shows, and how."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format

from everflow.api import public
from everflow.io import gfile
from everflow.proto import projector_config_pb2

_HERE = "contrib.tensorboard.plugins.projector."

ProjectorConfig = public(_HERE + "ProjectorConfig")(projector_config_pb2.ProjectorConfig)
EmbeddingInfo = public(_HERE + "EmbeddingInfo")(projector_config_pb2.EmbeddingInfo)
SpriteMetadata = public(_HERE + "SpriteMetadata")(projector_config_pb2.SpriteMetadata)
public(_HERE + "DESCRIPTOR")(projector_config_pb2.DESCRIPTOR)
public(_HERE + "projector_config_pb2")(projector_config_pb2)


@public("contrib.tensorboard.plugins.projector.visualize_embeddings")
def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes the configuration into the folder of a writer, where the projector looks for it."""
    folder = summary_writer.get_logdir()
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    with gfile.GFile(os.path.join(folder, "projector_config.pbtxt"), "w") as file:
        file.write(text_format.MessageToString(config))
