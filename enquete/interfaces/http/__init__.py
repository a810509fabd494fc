"""The HTTP API: `enquete serve`. Every path calls the façade; what a client reads is in docs/interfaces.md."""
