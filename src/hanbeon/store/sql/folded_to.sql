SELECT f.folded_to FROM hanbeon.fold AS f WHERE f.only_row = 1
