"""Estimators: models with training, evaluation, prediction and export around them."""
