"""The command line. `tenfold.cli.app` runs it; the commands of a feature stand in that feature's folder."""
