SELECT p.before FROM hanbeon.pruned AS p
