"""SavedModels: graphs with their variables, files and signatures, as folders that other programs serve."""
