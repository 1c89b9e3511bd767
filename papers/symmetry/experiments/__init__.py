"""The experiments of the `symmetry` paper; `tenfold reproduce symmetry/NAME` runs one."""
