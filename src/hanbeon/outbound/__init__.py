"""Requests to the outside: to checked addresses only."""
