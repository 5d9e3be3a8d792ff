"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.pieces import rnn_decoder as rnn_decoder
from everflow.contrib.learn.pieces import rnn_seq2seq as rnn_seq2seq
from everflow.contrib.learn.pieces import seq2seq_inputs as seq2seq_inputs
from everflow.contrib.learn.pieces import sequence_classifier as sequence_classifier
