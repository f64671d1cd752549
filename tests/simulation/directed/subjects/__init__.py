"""The directed plans, one file a subject. A file with a tuple `CASES` is all that a new capability adds."""
