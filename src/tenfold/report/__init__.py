"""Reports: figures and one self-contained page."""

from tenfold.report.page import write_report

__all__ = ["write_report"]
