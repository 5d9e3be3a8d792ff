"""Written by `make index`."""
from typing import Any

from everflow.contrib.legacy_seq2seq.decoders import attention_decoder as attention_decoder
from everflow.contrib.legacy_seq2seq.models import basic_rnn_seq2seq as basic_rnn_seq2seq
from everflow.contrib.legacy_seq2seq.decoders import embedding_attention_decoder as embedding_attention_decoder
from everflow.contrib.legacy_seq2seq.models import embedding_attention_seq2seq as embedding_attention_seq2seq
from everflow.contrib.legacy_seq2seq.decoders import embedding_rnn_decoder as embedding_rnn_decoder
from everflow.contrib.legacy_seq2seq.models import embedding_rnn_seq2seq as embedding_rnn_seq2seq
from everflow.contrib.legacy_seq2seq.models import embedding_tied_rnn_seq2seq as embedding_tied_rnn_seq2seq
from everflow.contrib.legacy_seq2seq.models import model_with_buckets as model_with_buckets
from everflow.contrib.legacy_seq2seq.models import one2many_rnn_seq2seq as one2many_rnn_seq2seq
from everflow.contrib.legacy_seq2seq.decoders import rnn_decoder as rnn_decoder
from everflow.contrib.legacy_seq2seq.losses import sequence_loss as sequence_loss
from everflow.contrib.legacy_seq2seq.losses import sequence_loss_by_example as sequence_loss_by_example
from everflow.contrib.legacy_seq2seq.models import tied_rnn_seq2seq as tied_rnn_seq2seq
