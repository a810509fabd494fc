"""The façade: what notebooks, CLI, MCP and HTTP call. Nothing else starts, resumes or reads a run.

`enquete` has the public names of it, each imported when it is first used.
"""
