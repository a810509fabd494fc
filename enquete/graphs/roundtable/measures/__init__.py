"""What a discussion shows, as pure functions of what was said: no model, no desk, no files."""
