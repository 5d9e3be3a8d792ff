"""Feature columns: from raw features, as records hold them, to the tensors that models take."""
