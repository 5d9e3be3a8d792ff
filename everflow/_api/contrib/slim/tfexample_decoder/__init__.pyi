"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.example_decoding import BackupHandler as BackupHandler
from everflow.contrib.slim.example_decoding import BoundingBox as BoundingBox
from everflow.contrib.slim.example_decoding import Image as Image
from everflow.contrib.slim.example_decoding import ItemHandler as ItemHandler
from everflow.contrib.slim.example_decoding import ItemHandlerCallback as ItemHandlerCallback
from everflow.contrib.slim.example_decoding import LookupTensor as LookupTensor
from everflow.contrib.slim.example_decoding import SparseTensor as SparseTensor
from everflow.contrib.slim.example_decoding import TFExampleDecoder as TFExampleDecoder
from everflow.contrib.slim.example_decoding import Tensor as Tensor
