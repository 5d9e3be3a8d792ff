"""Written by `make index`."""
from typing import Any

from everflow.io.tf_record import TFRecordCompressionType as TFRecordCompressionType
from everflow.io.tf_record import TFRecordOptions as TFRecordOptions
from everflow.io.tf_record import TFRecordWriter as TFRecordWriter
from everflow.io.tf_record import tf_record_iterator as tf_record_iterator
