"""Operations inside a transaction, written once for both databases: load, decide, apply, emit."""
