"""Take the pictures of the docs: `tools/screenshot_explorer.py docs/images`.

The page is that of `unseen explore debian --unseen mail,sound --label-rate 0.3`, the app that of `unseen label` with
the same words; its labels go to a temporary folder.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver

GRAPH = ["debian", "--unseen", "mail,sound", "--label-rate", "0.3"]
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
]
READY = "document.querySelectorAll('.hint button').forEach((e) => e.click()); "
TAB = "document.getElementById('tab-{}').click(); "
SELECT = "document.querySelector(\"[data-key='select-new-2']\").click()"
NAME = """
    const name = document.querySelector("[data-key='name-new-1']");
    name.value = "sound";
    name.dispatchEvent(new Event("input"));
    name.scrollIntoView({ block: "center" });
"""
ANSWER = (
    "const answer = () => { const next = document.querySelector(\"[data-key='questions-1']\"); "
    "if (next) { next.click(); setTimeout(answer, 150); } }; answer();"
)
PICTURES = {
    "explorer": ("page", 1440, 900, "light", READY),
    "label-light": ("app", 1440, 900, "light", READY),
    "label-name": ("app", 1440, 900, "light", READY + NAME),
    "label-dark": ("app", 1440, 900, "dark", READY + TAB.format("questions")),
    "label-select": ("app", 1440, 900, "light", READY + SELECT),
    "label-phone": ("app", 390, 844, "light", READY + TAB.format("questions")),
    "label-update": ("app", 1440, 900, "light", READY + TAB.format("questions") + ANSWER),
}
"""What is shown, width, height, theme, and what is done before the picture is taken."""


def main(folder: str) -> None:
    unseen = Path(sys.executable).with_name("unseen")
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "page.html"
        subprocess.run([unseen, "explore", *GRAPH, "-o", page], check=True)
        app = subprocess.Popen(
            [unseen, "label", *GRAPH, "--no-browser", "--save", Path(name) / "labels.csv"],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            url = next(line.strip() for line in app.stderr or () if line.startswith("http://"))
            take({"page": page.as_uri(), "app": url}, Path(folder), Path(name) / "profile")
        finally:
            app.terminate()
            app.wait()


def take(addresses: dict[str, str], folder: Path, profile: Path) -> None:
    """Take all pictures in one browser."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        for name, (what, width, height, theme, script) in PICTURES.items():
            phone = width < 500
            size = {"width": width, "height": height, "deviceScaleFactor": 2 if phone else 1, "mobile": phone}
            media = {"prefers-color-scheme": theme, "prefers-reduced-motion": "reduce"}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            features = [{"name": feature, "value": value} for feature, value in media.items()]
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            driver.get("about:blank")
            driver.get(addresses[what])
            time.sleep(2)
            driver.execute_script(script)
            time.sleep(8 if ANSWER in script else 1)
            driver.save_screenshot(str(folder / f"{name}.png"))
    finally:
        driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
