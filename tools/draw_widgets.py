"""Draw the still pictures of the widgets, for readers without scripts: each as it stands before it is moved.

Run it after a change of book/_static/widgets.js: .venv/bin/python tools/draw_widgets.py
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STATIC = ROOT / "book" / "_static"
NAMES = ("flip", "threshold", "agreement", "judged")
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><style>{style}
body {{ font: 16px/1.4 sans-serif; margin: 8px; width: 660px; }}</style></head>
<body><div data-widget="{name}"></div><script>{script}</script></body></html>"""


def main() -> None:
    """Open each widget alone, and keep what is seen of it."""
    sys.path.insert(0, str(ROOT / "tests"))
    from browser import open_browser

    script, style = ((STATIC / name).read_text(encoding="utf-8") for name in ("widgets.js", "auditbook.css"))
    with open_browser() as browser:
        size = {"width": 720, "height": 900, "deviceScaleFactor": 2, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for name in NAMES:
            page = STATIC / f"widget-{name}.html"
            page.write_text(PAGE.format(style=style, name=name, script=script), encoding="utf-8")
            browser.get(page.as_uri())
            page.unlink()
            browser.find_element("css selector", "[data-widget]").screenshot(str(page.with_suffix(".png")))


if __name__ == "__main__":
    main()
