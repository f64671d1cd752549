"""The loops of an instance: claim, renew, watch, recover, promote, number, prune — twins of one skeleton."""
