"""Servers and helpers that tests, measurements and acceptance runs share."""
