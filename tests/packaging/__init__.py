"""Tests of the wheel: what it contains, what it installs, and that each extra brings its feature."""
