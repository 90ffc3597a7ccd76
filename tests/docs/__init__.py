"""The documentation is held to the code: what it names exists, and what exists is named.

python -m tests.docs      # writes the generated parts anew
"""
