"""What survives: the ledger of a run, its budget and lock, run folders, LangGraph savers and resume tokens."""
