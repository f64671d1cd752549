"""The App for code without an event loop: scripts, Django, Flask."""
