"""What flows through steps and outlives them: tensors, strings, resources, random numbers, and what waits."""
