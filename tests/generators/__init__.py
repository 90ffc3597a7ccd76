"""Random situations on which product and oracle are compared.

`situations` draws cases in the case format with hypothesis, by family; `judge` says whether what the product did lies
within what the oracle permits; `series` runs several sessions with pods starting, ending and being evicted in
between. A few hundred run in `make test`, thousands in `make fuzz` (`pytest -m fuzz tests/generators`). A failure is
shrunk to a small case, printed as tables and written to `failures/`, from where
`pytest tests/cases --cases tests/generators/failures` runs it again.
"""
