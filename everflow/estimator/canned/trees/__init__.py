"""Boosted trees as estimators."""
