"""Respondent A against respondent B in the report: read from the pairs, told, drawn."""
