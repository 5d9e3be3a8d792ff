"""Written by `make index`."""
from typing import Any

from everflow.keras.preprocessing.sequence import TimeseriesGenerator as TimeseriesGenerator
from everflow.keras.preprocessing.sequence import make_sampling_table as make_sampling_table
from everflow.keras.preprocessing.sequence import pad_sequences as pad_sequences
from everflow.keras.preprocessing.sequence import skipgrams as skipgrams
