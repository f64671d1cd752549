"""Storms: many processes race, are killed, frozen and cut off; the harness is here, the scenarios in the folders."""
