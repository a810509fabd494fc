"""What every interface is made of: what a run looks like to a caller, what an error becomes, where a server listens."""
