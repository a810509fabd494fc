"""The web page of `enquete serve`: HTML from the server, which works offline and without scripts (docs/interfaces.md)."""
