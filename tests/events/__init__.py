"""Tests of events and their subscribers."""
