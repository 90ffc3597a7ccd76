"""capacity, alone and in a tree."""
