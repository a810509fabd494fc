"""Types every layer shares: asking, methodology, channels and reducers, settings, errors. They validate, no more."""
