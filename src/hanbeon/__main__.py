"""`python -m hanbeon` is `hanbeon`."""

from hanbeon.cli import main

main()
