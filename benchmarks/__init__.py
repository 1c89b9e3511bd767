"""How fast tenfold is, as ratios measured within one process: `python -m benchmarks [NAME] [--quick]`."""
