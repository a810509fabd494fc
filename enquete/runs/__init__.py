"""Choosing, opening, estimating and driving a run; the graph's own steps are in `nodes/`."""
