"""Input functions from arrays and data frames in memory."""
