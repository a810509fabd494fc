"""The critic: grades answers, compares two of one question, and a stand-in that does so without a model."""
