"""The one application of `enquete serve`: the HTTP API (docs/http.md) and the web page (docs/web.md), which works offline."""
