"""Reports: figures and one self-contained page."""

from tenfold.report.groups import gather
from tenfold.report.page import write_report, write_story
from tenfold.report.paper_report import write_paper

__all__ = ["gather", "write_paper", "write_report", "write_story"]
