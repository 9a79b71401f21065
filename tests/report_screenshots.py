"""Take pictures of the example reports, at the width of a phone and of a desk, page by page.

Run: python tests/report_screenshots.py FOLDER
"""

import sys
from pathlib import Path

from browser import browser

REPORTS = Path(__file__).resolve().parent.parent / "docs" / "reports"
HEIGHT = 1500  # px; a page


def main(folder: Path) -> None:
    """Write FOLDER/REPORT-WIDTH-PAGE.png for all reports."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as tab:
        for report in sorted(REPORTS.glob("*.html")):
            for width in (390, 1200):
                tab.resize(width, HEIGHT, mobile=width < 600)
                tab.open(report.as_uri())
                whole = tab.evaluate("document.documentElement.scrollHeight")
                for page in range(-(-whole // HEIGHT)):
                    tab.evaluate(f"window.scrollTo(0, {page * HEIGHT})")
                    tab.screenshot(folder / f"{report.stem}-{width}-{page}.png")
                print(f"{report.stem}, {width} px: {whole} px high, {len(tab.errors)} errors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
