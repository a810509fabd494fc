"""Drafts written with the interviewer's model: what it is asked (requests), what of it is used (checking), and in which order (author)."""
