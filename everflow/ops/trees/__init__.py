"""Boosted trees: ensembles, the sketches that bucketize features, and the ops that grow trees."""
