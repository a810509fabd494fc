"""What is not graph of each methodology: instrument, questions, analysis, results, charts and synthetic answers."""
