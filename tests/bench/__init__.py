"""The benchmarks' own tests: what they parse, compute, render and end. None asserts a speed."""
