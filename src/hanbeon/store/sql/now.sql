SELECT hanbeon.now() AS now
