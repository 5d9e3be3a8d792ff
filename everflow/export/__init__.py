"""Graphs as programs for other libraries."""
