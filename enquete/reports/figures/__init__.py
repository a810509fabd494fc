"""The older drawing engine, for methodologies that declare no charts yet. Everything else meets its figures as pictures, through
`older.py`; the package goes with the last of them, but for `palette` and what charts use of `text`."""
