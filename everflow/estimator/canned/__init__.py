"""Estimators with a model of their own: linear, deep, both, and baselines."""
