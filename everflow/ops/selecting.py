"""Elements chosen by what they are: where, boolean_mask, unique, one_hot, partitions."""
from __future__ import annotations
