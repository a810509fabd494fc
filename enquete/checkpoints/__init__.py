"""Where a run stands: LangGraph's checkpoints, the threads they belong to, and what a stopped run waits for.

The ledger is the record of what was asked, answered and paid; a checkpoint is only the position in the graph. If the
checkpoints are lost, the next resume walks through the graph again and asks nothing that is answered. If the ledger is
lost, the run is lost.
"""
