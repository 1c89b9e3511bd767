"""The ledger: claims of the papers, the experiments that test them, and the status of each claim."""
