"""Floor 2: what is remembered: how it gets in (`intake`) and how it is found (`corpus`)."""
