"""Written by `make index`."""
from typing import Any

from everflow.estimator.inputs.feeding import FeedingQueueRunner as FeedingQueueRunner
from everflow.contrib.training.device_strategies import GreedyLoadBalancingStrategy as GreedyLoadBalancingStrategy
from everflow.contrib.training.hparams import HParams as HParams
from everflow.contrib.training.sequence_states import NextQueuedSequenceBatch as NextQueuedSequenceBatch
from everflow.contrib.training.device_strategies import RandomStrategy as RandomStrategy
from everflow.contrib.training.sequence_states import SequenceQueueingStateSaver as SequenceQueueingStateSaver
from everflow.train.evaluation import StopAfterNEvalsHook as StopAfterNEvalsHook
from everflow.contrib.training.evaluating import SummaryAtEndHook as SummaryAtEndHook
from everflow.contrib.training.train_ops import add_gradients_summaries as add_gradients_summaries
from everflow.contrib.training.sequence_states import batch_sequences_with_states as batch_sequences_with_states
from everflow.contrib.training.bucketing import bucket as bucket
from everflow.contrib.training.bucketing import bucket_by_sequence_length as bucket_by_sequence_length
from everflow.contrib.training.device_strategies import byte_size_load_fn as byte_size_load_fn
from everflow.train.checkpoints.waiting import checkpoints_iterator as checkpoints_iterator
from everflow.contrib.training.train_ops import clip_gradient_norms as clip_gradient_norms
from everflow.contrib.training.train_ops import clip_gradient_norms_fn as clip_gradient_norms_fn
from everflow.contrib.training.train_ops import create_train_op as create_train_op
from everflow.train.evaluation import evaluate_once as evaluate_once
from everflow.contrib.training.evaluating import evaluate_repeatedly as evaluate_repeatedly
from everflow.train.evaluation import get_or_create_eval_step as get_or_create_eval_step
from everflow.contrib.training.train_ops import multiply_gradients as multiply_gradients
from everflow.contrib.training.hparams import parse_values as parse_values
from everflow.contrib.training.sampling import rejection_sample as rejection_sample
from everflow.contrib.training.resampling import resample_at_rate as resample_at_rate
from everflow.contrib.training.sampling import stratified_sample as stratified_sample
from everflow.contrib.training.training_loop import train as train
from everflow.train.checkpoints.waiting import wait_for_new_checkpoint as wait_for_new_checkpoint
from everflow.contrib.training.resampling import weighted_resample as weighted_resample
