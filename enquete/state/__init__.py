"""Types every layer shares: asking, desk, methodology, channels and reducers, settings, errors. No behaviour beyond validation."""
