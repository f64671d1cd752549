"""One small file per queue. They run in the queue's own environment and import nothing but it and their neighbours."""
