"""The HTTP server: who may ask, what is answered, and how errors look. What is asked for is done by the surfaces."""
