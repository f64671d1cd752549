UPDATE hanbeon.pruned SET before = hanbeon.now() - $1 WHERE before < hanbeon.now() - $1
