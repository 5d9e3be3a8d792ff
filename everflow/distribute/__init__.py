"""Programs on several machines: clusters, servers, and which of them holds what."""
