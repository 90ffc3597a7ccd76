"""Recorded decisions of the reference, run through the whole path of the product and compared.

    pytest tests/cases                       every case of ../shared/cases, or of the copy in data/ without it
    pytest tests/cases --cases DIR           another folder of the same format
    pytest tests/cases --case 'gang 1-004'   only cases whose name contains the text

A failing case prints its nodes, queues and jobs as tables, expected and actual, and why each pending task is
pending. `not-yet.toml` says which plugins, actions and kinds are not built: cases that need them are left out
and counted. `deliberate.toml` says which cases come out differently under the default profile, by row of
design-notes §7; `defects.toml` lists cases that rest on a defect of the reference we do not follow.
"""
