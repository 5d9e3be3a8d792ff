"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.preprocessing.text import ByteProcessor as ByteProcessor
from everflow.contrib.learn.preprocessing.categorical import CategoricalProcessor as CategoricalProcessor
from everflow.contrib.learn.preprocessing.vocabulary import CategoricalVocabulary as CategoricalVocabulary
from everflow.contrib.learn.preprocessing.text import TOKENIZER_RE as TOKENIZER_RE
from everflow.contrib.learn.preprocessing.text import VocabularyProcessor as VocabularyProcessor
from everflow.contrib.learn.preprocessing.text import tokenizer as tokenizer
