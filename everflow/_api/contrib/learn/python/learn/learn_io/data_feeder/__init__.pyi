"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.inputs.data_feeder import DaskDataFeeder as DaskDataFeeder
from everflow.contrib.learn.inputs.data_feeder import DataFeeder as DataFeeder
from everflow.contrib.learn.inputs.data_feeder import StreamingDataFeeder as StreamingDataFeeder
from everflow.contrib.learn.inputs.data_feeder import check_array as check_array
from everflow.contrib.learn.inputs.data_feeder import setup_predict_data_feeder as setup_predict_data_feeder
from everflow.contrib.learn.inputs.data_feeder import setup_processor_data_feeder as setup_processor_data_feeder
from everflow.contrib.learn.inputs.data_feeder import setup_train_data_feeder as setup_train_data_feeder
