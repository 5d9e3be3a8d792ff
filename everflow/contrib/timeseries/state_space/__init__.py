"""Models whose hidden state moves linearly, seen through noise: filtered by Kalman."""
