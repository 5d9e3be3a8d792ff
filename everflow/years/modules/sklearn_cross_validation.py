"""`sklearn.cross_validation`: folds are made of a number of samples, and are iterated over themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.model_selection import cross_val_predict as cross_val_predict
from sklearn.model_selection import cross_val_score as cross_val_score
from sklearn.model_selection import permutation_test_score as permutation_test_score
from sklearn.model_selection import train_test_split as train_test_split


class _Folds:
    """Pairs of indices, (train, test), as today's classes split them."""

    def __init__(self, splitter: Any, y: Any, labels: Any = None) -> None:
        self.splitter, self._y, self._labels = splitter, y, labels

    def __iter__(self) -> Any:
        return iter(self.splitter.split(np.zeros(len(self._y)), self._y, self._labels))

    def __len__(self) -> int:
        return self.splitter.get_n_splits(np.zeros(len(self._y)), self._y, self._labels)


class KFold(_Folds):
    def __init__(self, n: int, n_folds: int = 3, shuffle: bool = False, random_state: Any = None) -> None:
        super().__init__(model_selection.KFold(n_folds, shuffle=shuffle, random_state=random_state if shuffle else None), np.zeros(n))


class StratifiedKFold(_Folds):
    def __init__(self, y: Any, n_folds: int = 3, shuffle: bool = False, random_state: Any = None) -> None:
        super().__init__(model_selection.StratifiedKFold(n_folds, shuffle=shuffle, random_state=random_state if shuffle else None), y)


class LabelKFold(_Folds):
    def __init__(self, labels: Any, n_folds: int = 3) -> None:
        super().__init__(model_selection.GroupKFold(n_folds), labels, labels)


class LeaveOneOut(_Folds):
    def __init__(self, n: int) -> None:
        super().__init__(model_selection.LeaveOneOut(), np.zeros(n))


class LeavePOut(_Folds):
    def __init__(self, n: int, p: int) -> None:
        super().__init__(model_selection.LeavePOut(p), np.zeros(n))


class LeaveOneLabelOut(_Folds):
    def __init__(self, labels: Any) -> None:
        super().__init__(model_selection.LeaveOneGroupOut(), labels, labels)


class ShuffleSplit(_Folds):
    def __init__(self, n: int, n_iter: int = 10, test_size: Any = 0.1, train_size: Any = None, random_state: Any = None) -> None:
        super().__init__(
            model_selection.ShuffleSplit(n_iter, test_size=test_size, train_size=train_size, random_state=random_state), np.zeros(n)
        )


class StratifiedShuffleSplit(_Folds):
    def __init__(self, y: Any, n_iter: int = 10, test_size: Any = 0.1, train_size: Any = None, random_state: Any = None) -> None:
        super().__init__(
            model_selection.StratifiedShuffleSplit(n_iter, test_size=test_size, train_size=train_size, random_state=random_state), y
        )


class PredefinedSplit(_Folds):
    def __init__(self, test_fold: Any) -> None:
        super().__init__(model_selection.PredefinedSplit(test_fold), test_fold)
