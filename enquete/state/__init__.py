"""Types every layer shares: the seam, channels and reducers, settings, errors. No behaviour beyond validation."""
