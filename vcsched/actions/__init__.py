"""Actions, one module each: what a session does, in the configured order (spec 04).

An action has a `name` and `execute(ssn)`; it sees the framework and the model only.
"""
