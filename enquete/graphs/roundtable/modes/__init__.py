"""Modes of a discussion: what one declares, and the shared pieces that it is put together from."""
