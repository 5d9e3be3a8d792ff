"""Written by `make index`."""
from typing import Any

from everflow.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from everflow.lookup.tables import StaticHashTableV1 as _StaticHashTable
StaticHashTable = _StaticHashTable
from everflow.lookup.vocabularies import StaticVocabularyTableV1 as _StaticVocabularyTable
StaticVocabularyTable = _StaticVocabularyTable
from everflow.lookup.initializers import TextFileIndex as TextFileIndex
from everflow.lookup.initializers import TextFileInitializer as TextFileInitializer
from everflow._api.lookup import experimental as experimental
