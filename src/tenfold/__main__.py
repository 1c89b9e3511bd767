"""`python -m tenfold` is `tenfold`."""

from tenfold.cli import main

main()
