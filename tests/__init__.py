"""Tests, mirroring enquete/."""
