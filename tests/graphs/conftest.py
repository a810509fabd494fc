"""What tests of several methodologies share."""

from tests.graphs.unreported import unreported

__all__ = ["unreported"]
