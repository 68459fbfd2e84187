"""Take the picture of the explorer page that the README shows: `tools/screenshot_explorer.py page.html picture.png`."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver

WIDTH, HEIGHT = 1440, 900
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
]


def main(page: str, picture: str) -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(
            options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
        )
        try:
            size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.get(Path(page).resolve().as_uri())
            time.sleep(1)
            driver.save_screenshot(picture)
        finally:
            driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
