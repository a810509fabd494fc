"""Respondent A against respondent B: answers matched from the ledger, judged by the critic's graph, told to the memory."""
