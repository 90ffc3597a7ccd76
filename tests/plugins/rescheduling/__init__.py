"""rescheduling."""
