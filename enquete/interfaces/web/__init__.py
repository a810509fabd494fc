"""The one application of `enquete serve`: the HTTP API and the web page, which works offline (docs/interfaces.md)."""
