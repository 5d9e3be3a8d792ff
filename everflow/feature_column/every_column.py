"""Imports every module that defines columns, so that all can be read from data."""

from everflow.feature_column import categorical, crossing, embedding, indicator, numeric, sequence, shared_embedding

__all__ = ["categorical", "crossing", "embedding", "indicator", "numeric", "sequence", "shared_embedding"]
