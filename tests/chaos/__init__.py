"""What the engine promises when workers, connections and servers die, freeze and come back."""
