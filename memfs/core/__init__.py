"""Floor 1: values and text: blocks, edits, merging, front matter. No I/O, no clock."""
