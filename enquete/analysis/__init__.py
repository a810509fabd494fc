"""Pure statistics shared by the methodologies: numpy, scipy and pandas; no graph, no files, no network."""
