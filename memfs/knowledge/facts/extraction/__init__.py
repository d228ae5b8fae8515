"""Facts by rules, without a model, in what was said."""
