"""Every write of the store with its connection lost before and after the commit, and repeated as its caller does."""
