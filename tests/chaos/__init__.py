"""Guarantees of the engine while workers, connections and servers die, freeze and come back."""
