"""What offices send out."""
