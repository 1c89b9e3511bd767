"""The experiments of the `extrapolation` paper; `tenfold reproduce extrapolation/NAME` runs one."""
