"""The form in which models were exported before SavedModels: a MetaGraph with signatures in collections, and a checkpoint."""
