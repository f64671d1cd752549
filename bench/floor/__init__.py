"""Hand-written SQL without a framework: claim a batch, complete it, each in a durable transaction of its own."""
