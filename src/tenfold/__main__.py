"""`python -m tenfold` is `tenfold`."""

from tenfold.cli.app import main

main()
