"""Written by `make index`."""
from typing import Any

from everflow.contrib.seq2seq.attention import AttentionMechanism as AttentionMechanism
from everflow.contrib.seq2seq.attention_wrapper import AttentionWrapper as AttentionWrapper
from everflow.contrib.seq2seq.attention_wrapper import AttentionWrapperState as AttentionWrapperState
from everflow.contrib.seq2seq.attention import BahdanauAttention as BahdanauAttention
from everflow.contrib.seq2seq.attention import BahdanauMonotonicAttention as BahdanauMonotonicAttention
from everflow.contrib.seq2seq.basic_decoder import BasicDecoder as BasicDecoder
from everflow.contrib.seq2seq.basic_decoder import BasicDecoderOutput as BasicDecoderOutput
from everflow.contrib.seq2seq.beam_search_decoder import BeamSearchDecoder as BeamSearchDecoder
from everflow.contrib.seq2seq.beam_search import BeamSearchDecoderOutput as BeamSearchDecoderOutput
from everflow.contrib.seq2seq.beam_search import BeamSearchDecoderState as BeamSearchDecoderState
from everflow.contrib.seq2seq.helpers import CustomHelper as CustomHelper
from everflow.contrib.seq2seq.decoder import Decoder as Decoder
from everflow.contrib.seq2seq.beam_search import FinalBeamSearchDecoderOutput as FinalBeamSearchDecoderOutput
from everflow.contrib.seq2seq.helpers import GreedyEmbeddingHelper as GreedyEmbeddingHelper
from everflow.contrib.seq2seq.helpers import Helper as Helper
from everflow.contrib.seq2seq.helpers import InferenceHelper as InferenceHelper
from everflow.contrib.seq2seq.attention import LuongAttention as LuongAttention
from everflow.contrib.seq2seq.attention import LuongMonotonicAttention as LuongMonotonicAttention
from everflow.contrib.seq2seq.helpers import SampleEmbeddingHelper as SampleEmbeddingHelper
from everflow.contrib.seq2seq.helpers import ScheduledEmbeddingTrainingHelper as ScheduledEmbeddingTrainingHelper
from everflow.contrib.seq2seq.helpers import ScheduledOutputTrainingHelper as ScheduledOutputTrainingHelper
from everflow.contrib.seq2seq.helpers import TrainingHelper as TrainingHelper
from everflow.contrib.seq2seq.decoder import dynamic_decode as dynamic_decode
from everflow.ops.nn.beam_search import gather_tree as gather_tree
from everflow.contrib.seq2seq.memory import hardmax as hardmax
from everflow.contrib.seq2seq.monotonic import monotonic_attention as monotonic_attention
from everflow.contrib.seq2seq.monotonic import safe_cumprod as safe_cumprod
from everflow.contrib.seq2seq.losses import sequence_loss as sequence_loss
from everflow.contrib.seq2seq.beam_search import tile_batch as tile_batch
