"""SavedModels as protos."""

from __future__ import annotations

import sys
from typing import Any

from everflow.api import internal
from everflow.saved_model.loader import parse_saved_model

internal("tools.saved_model_utils")(sys.modules[__name__])


@internal("contrib.saved_model.python.saved_model.reader.read_saved_model")
def read_saved_model(saved_model_dir: Any) -> Any:
    """The SavedModel proto in a folder."""
    return parse_saved_model(saved_model_dir)


@internal("contrib.saved_model.python.saved_model.reader.get_saved_model_tag_sets")
def get_saved_model_tag_sets(saved_model_dir: Any) -> list[list[str]]:
    """The tags of each graph."""
    return [list(meta_graph_def.meta_info_def.tags) for meta_graph_def in read_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir: Any, tag_set: str) -> Any:
    """The MetaGraphDef with exactly these tags, comma separated."""
    tags = set(tag_set.split(","))
    for meta_graph_def in read_saved_model(saved_model_dir).meta_graphs:
        if set(meta_graph_def.meta_info_def.tags) == tags:
            return meta_graph_def
    raise RuntimeError(f"MetaGraphDef associated with tag-set {tag_set} could not be found in SavedModel")
