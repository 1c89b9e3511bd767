"""The experiments of the `principled` paper; `tenfold reproduce principled/NAME` runs one."""
