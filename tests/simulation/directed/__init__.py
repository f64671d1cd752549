"""Directed plans: a fault at the moment at which it matters, and a mutant that proves that somebody would notice."""
