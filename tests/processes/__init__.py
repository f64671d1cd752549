"""Real processes for tests: workers to race, kill and freeze, a sampler that watches, and what their tasks write."""
