"""Heads: what a model's logits mean, its loss, predictions and metrics."""
