"""What things mean: Kubernetes rules as pure functions, and the objects of the picture as slotted classes.

Nothing here reads a table or a socket. Sums live in the cache's columns; identity, status and sets here.
"""
