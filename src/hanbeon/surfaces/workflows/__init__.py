"""Workflows: ordered steps that send messages, call HTTP, wait and run tasks, once or again and again."""
