"""Whether a database tells a sound story: pure checks over what was written down, a page at a time."""
