"""Written by `make index`."""
from typing import Any

from everflow.contrib.crf.decoding import CrfDecodeBackwardRnnCell as CrfDecodeBackwardRnnCell
from everflow.contrib.crf.decoding import CrfDecodeForwardRnnCell as CrfDecodeForwardRnnCell
from everflow.contrib.crf.likelihood import CrfForwardRnnCell as CrfForwardRnnCell
from everflow.contrib.crf.likelihood import crf_binary_score as crf_binary_score
from everflow.contrib.crf.decoding import crf_decode as crf_decode
from everflow.contrib.crf.likelihood import crf_log_likelihood as crf_log_likelihood
from everflow.contrib.crf.likelihood import crf_log_norm as crf_log_norm
from everflow.contrib.crf.likelihood import crf_multitag_sequence_score as crf_multitag_sequence_score
from everflow.contrib.crf.likelihood import crf_sequence_score as crf_sequence_score
from everflow.contrib.crf.likelihood import crf_unary_score as crf_unary_score
from everflow.contrib.crf.decoding import viterbi_decode as viterbi_decode
