"""Reports: figures and one self-contained page."""

from tenfold.report.groups import gather
from tenfold.report.page import write_report, write_story

__all__ = ["gather", "write_report", "write_story"]
