"""How property tests run: without a time limit per example, which a busy machine would break."""

from hypothesis import HealthCheck, settings

settings.register_profile("hanbeon", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hanbeon")
