"""Tests of the supply chain: pins, hashes, the bill of materials, advisories."""
