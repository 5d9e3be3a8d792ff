"""Summaries for TensorBoard, as ops: their messages, and the writers of event files."""
