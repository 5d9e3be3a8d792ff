"""Written by `make index`."""
from typing import Any

from everflow.keras.preprocessing.text import Tokenizer as Tokenizer
from everflow.keras.preprocessing.text import hashing_trick as hashing_trick
from everflow.keras.preprocessing.text import one_hot as one_hot
from everflow.keras.preprocessing.text import text_to_word_sequence as text_to_word_sequence
