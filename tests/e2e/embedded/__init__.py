"""The daemon as a process on the embedded API server: part of `make test`, needs no other program."""
