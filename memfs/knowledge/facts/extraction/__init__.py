"""Facts by rules, without a model: in what was said, and in what tools did and printed."""
