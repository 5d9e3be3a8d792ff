"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.heads.base import Head as Head
from everflow.contrib.learn.heads.classification import BinaryLogisticHead as __BinaryLogisticHead
_BinaryLogisticHead = __BinaryLogisticHead
from everflow.contrib.learn.heads.classification import BinarySvmHead as __BinarySvmHead
_BinarySvmHead = __BinarySvmHead
from everflow.contrib.learn.heads.several import LossOnlyHead as __LossOnlyHead
_LossOnlyHead = __LossOnlyHead
from everflow.contrib.learn.heads.classification import MultiClassHead as __MultiClassHead
_MultiClassHead = __MultiClassHead
from everflow.contrib.learn.heads.several import MultiHead as __MultiHead
_MultiHead = __MultiHead
from everflow.contrib.learn.heads.classification import MultiLabelHead as __MultiLabelHead
_MultiLabelHead = __MultiLabelHead
from everflow.contrib.learn.heads.regression import RegressionHead as __RegressionHead
_RegressionHead = __RegressionHead
from everflow.contrib.learn.heads.classification import binary_svm_head as binary_svm_head
from everflow.contrib.learn.heads.several import loss_only_head as loss_only_head
from everflow.contrib.learn.heads.classification import multi_class_head as multi_class_head
from everflow.contrib.learn.heads.several import multi_head as multi_head
from everflow.contrib.learn.heads.classification import multi_label_head as multi_label_head
from everflow.contrib.learn.heads.base import no_op_train_fn as no_op_train_fn
from everflow.contrib.learn.heads.regression import poisson_regression_head as poisson_regression_head
from everflow.contrib.learn.heads.regression import regression_head as regression_head
