"""Colours of charts, and the width and breaks of text in them."""
