"""The experiments of the `bias` paper; `tenfold reproduce bias/NAME` runs one."""
