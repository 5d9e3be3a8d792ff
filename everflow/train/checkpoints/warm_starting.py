"""tf.train.warm_start: variables that start where another training ended, also with another vocabulary."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import get_collection
from everflow.graph.trackable import OBJECT_GRAPH_PROTO_KEY
from everflow.ops.variables.partitioned import PartitionedVariable, PartitionInfo
from everflow.ops.variables.variables import Variable
from everflow.platform import logging
from everflow.train.checkpoints.initializing import init_from_checkpoint
from everflow.train.checkpoints.object_names import object_graph_key_mapping
from everflow.train.checkpoints.reader import _resolved, new_checkpoint_reader
from everflow.train.checkpoints.remapping import _load_and_remap_matrix_initializer
from everflow.train.checkpoints.saveable_making import op_list_to_dict


@public("train.VocabInfo", "estimator.VocabInfo")
class VocabInfo(
    collections.namedtuple(
        "VocabInfo", ["new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab", "old_vocab_size", "backup_initializer", "axis"]
    )
):
    """The vocabulary of a variable's rows or columns, now and in the checkpoint."""

    def __new__(
        cls,
        new_vocab: Any,
        new_vocab_size: int,
        num_oov_buckets: int,
        old_vocab: Any,
        old_vocab_size: int = -1,
        backup_initializer: Any = None,
        axis: int = 0,
    ) -> VocabInfo:
        _check_axis(axis)
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size, backup_initializer, axis)


def _check_axis(axis: int) -> None:
    if axis not in (0, 1):
        raise ValueError(f"The only supported values for the axis argument are 0 and 1.  Provided axis: {axis}")


@internal("training.warm_starting_util._infer_var_name")
def _infer_var_name(var: Any) -> str:
    names = op_list_to_dict(var)
    if len(names) > 1:
        raise TypeError(f"`var` = {var} passed as arg violates the constraints.  name_to_var_dict = {names}")
    return next(iter(names))


@internal("training.warm_starting_util._get_var_info")
def _get_var_info(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    if _is_one(var):
        current = _infer_var_name([var])
    elif isinstance(var, list) and all(_is_one(v) for v in var):
        current = _infer_var_name(var)
    elif isinstance(var, PartitionedVariable):
        current = _infer_var_name([var])
        var = var._get_variable_list()
    else:
        raise TypeError(f"var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, but is {type(var)}")
    return prev_tensor_name or current, var


def _is_one(var: Any) -> bool:
    return isinstance(var, Variable)


@internal("training.warm_starting_util._warm_start_var_with_vocab")
def _warm_start_var_with_vocab(
    var: Any,
    current_vocab_path: Any,
    current_vocab_size: int,
    prev_ckpt: Any,
    prev_vocab_path: Any,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: Any = None,
    axis: int = 0,
) -> None:
    """Makes rows (or columns) of a checkpoint's matrix the initial ones of a variable, word by word."""
    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ValueError("Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, prev_vocab_path}.")
    if _is_one(var):
        var = [var]
    elif isinstance(var, list) and all(_is_one(v) for v in var):
        pass
    elif isinstance(var, PartitionedVariable):
        var = var._get_variable_list()
    else:
        raise TypeError(f"var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, but is {type(var)}")
    _check_axis(axis)
    prev_tensor_name = prev_tensor_name or _infer_var_name(var)
    total_rows = sum(v.get_shape().as_list()[0] for v in var)
    for v in var:
        shape = v.get_shape().as_list()
        info = v._get_save_slice_info()
        partition = PartitionInfo(full_shape=info.full_shape, var_offset=info.var_offset) if info else None
        words = "row" if axis == 0 else "col"
        sizes = {"new_row_vocab_size": current_vocab_size, "new_col_vocab_size": shape[1], "old_row_vocab_size": previous_vocab_size}
        if axis == 1:
            sizes = {"new_row_vocab_size": total_rows, "new_col_vocab_size": current_vocab_size}
        initialize = _load_and_remap_matrix_initializer(
            ckpt_path=_resolved(prev_ckpt),
            old_tensor_name=prev_tensor_name,
            initializer=initializer,
            **sizes,
            **{
                f"old_{words}_vocab_file": prev_vocab_path,
                f"new_{words}_vocab_file": current_vocab_path,
                f"num_{words}_oov_buckets": current_oov_buckets,
            },
        )
        value = convert_to_tensor(initialize(shape=shape, partition_info=partition))
        v._initializer_op = tf.assign(v, value)


@internal("training.warm_starting_util._get_grouped_variables")
def _get_grouped_variables(vars_to_warm_start: Any) -> dict[str, list[Any]]:
    """{name: variables}: the parts of a variable together."""
    if isinstance(vars_to_warm_start, str) or vars_to_warm_start is None:
        # None means only those with a vocabulary, which are chosen later.
        found = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=vars_to_warm_start)
    elif isinstance(vars_to_warm_start, list):
        if all(isinstance(v, str) for v in vars_to_warm_start):
            found = [v for name in vars_to_warm_start for v in get_collection(GraphKeys.GLOBAL_VARIABLES, scope=name)]
        elif all(_is_one(v) for v in vars_to_warm_start):
            found = vars_to_warm_start
        else:
            raise ValueError(
                "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
                f"{[type(v) for v in vars_to_warm_start]}"
            )
    else:
        raise ValueError(f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(vars_to_warm_start)}")
    grouped: dict[str, list[Any]] = collections.OrderedDict()
    for v in found:
        grouped.setdefault(_infer_var_name(v if isinstance(v, list) else [v]), []).append(v)
    return grouped


@internal("training.warm_starting_util._get_object_checkpoint_renames")
def _get_object_checkpoint_renames(path: Any, variable_names: Any) -> dict[str, str]:
    """{variable: its key} where a checkpoint is of objects; else nothing."""
    path = _resolved(path)
    if not new_checkpoint_reader(path).has_tensor(OBJECT_GRAPH_PROTO_KEY):
        return {}
    keys = object_graph_key_mapping(path)
    missing = set(variable_names) - set(keys)
    if missing:
        raise ValueError(
            f"Attempting to warm-start from an object-based checkpoint, but found that the checkpoint did not contain values for all "
            f"variables. The following variables were missing: {missing}"
        )
    return {name: keys[name] for name in variable_names}


@public("train.warm_start")
@internal("training.warm_starting_util.warm_start")
def warm_start(
    ckpt_to_initialize_from: Any, vars_to_warm_start: Any = ".*", var_name_to_vocab_info: Any = None, var_name_to_prev_var_name: Any = None
) -> None:
    """Makes the values of a checkpoint the initial values of variables."""
    logging.info("Warm-starting from: %s", ckpt_to_initialize_from)
    grouped = _get_grouped_variables(vars_to_warm_start)
    if var_name_to_vocab_info is None:
        var_name_to_vocab_info = {}
    if not var_name_to_prev_var_name:
        # Checkpoints of objects have other names; those that the user gives come first.
        var_name_to_prev_var_name = _get_object_checkpoint_renames(ckpt_to_initialize_from, grouped)
    used_names: set[str] = set()
    used_vocabularies: set[str] = set()
    without: dict[str, Any] = {}
    for name, variable in grouped.items():
        previous = var_name_to_prev_var_name.get(name)
        if previous:
            used_names.add(name)
        vocabulary = var_name_to_vocab_info.get(name)
        if vocabulary:
            used_vocabularies.add(name)
            _warm_start_var_with_vocab(
                variable,
                current_vocab_path=vocabulary.new_vocab,
                current_vocab_size=vocabulary.new_vocab_size,
                prev_ckpt=ckpt_to_initialize_from,
                prev_vocab_path=vocabulary.old_vocab,
                previous_vocab_size=vocabulary.old_vocab_size,
                current_oov_buckets=vocabulary.num_oov_buckets,
                prev_tensor_name=previous,
                initializer=vocabulary.backup_initializer,
                axis=vocabulary.axis,
            )
        elif vars_to_warm_start:
            tensor_name, var = _get_var_info(variable[0] if len(variable) == 1 else variable, previous)
            if tensor_name in without:
                # Two variables of one tensor: the map has room for one.
                init_from_checkpoint(ckpt_to_initialize_from, {tensor_name: var})
            else:
                without[tensor_name] = var
    init_from_checkpoint(ckpt_to_initialize_from, without)
    for which, given, used in (
        ("var_name_to_prev_var_name", var_name_to_prev_var_name, used_names),
        ("var_name_to_vocab_info", var_name_to_vocab_info, used_vocabularies),
    ):
        unused = set(given) - used
        if unused:
            raise ValueError(
                f"You provided the following variables in {which} that were not used: {unused}.  Perhaps you misspelled "
                f"them?  Here is the list of viable variable names: {dict.fromkeys(grouped).keys()}"
            )
