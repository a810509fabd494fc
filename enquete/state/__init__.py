"""Types every layer shares: asking, methodology, channels and reducers, settings, errors. No behaviour beyond
validation."""
