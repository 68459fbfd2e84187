"""Measure the drawing of the explorer page beside regl-scatterplot: `tools/measure_drawing.py 10000 100000 1000000`.

Milliseconds of a frame after a small move, and of a lasso around a quarter of the points, in software rendering
(SwiftShader), at 1280 x 800. npm brings regl-scatterplot and esbuild, which makes one file of it.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from selenium import webdriver

import unseen
from unseen.explorer import Subject, write_explorer

REGL = "regl-scatterplot@1.16.0"
ESBUILD = "esbuild@0.25.12"
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--allow-file-access-from-files",
    "--window-size=1280,800",
]
FRAMES = 15
OURS = """
    const canvas = document.getElementById("points"), gl = canvas.getContext("webgl2"), times = [];
    for (let k = 0; k < arguments[0]; k += 1) {
      explorer.view.x += 0.002;
      const start = performance.now();
      explorer.drawingTime(1);
      if (gl) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); // waits for the frame
      times.push(performance.now() - start);
    }
    return times;
"""
OUR_LASSO = """
    const start = performance.now(), found = explorer.inside(arguments[0]);
    return [performance.now() - start, found];
"""
THEIRS = """
    <!doctype html><body style="margin:0"><canvas id="c" style="width:840px;height:600px"></canvas>
    <script src="scatter.js"></script><script>
    const n = Number(location.hash.slice(1)), x = new Float32Array(n), y = new Float32Array(n), z = new Uint8Array(n);
    for (let i = 0; i < n; i += 1) { x[i] = 2 * Math.random() - 1; y[i] = 2 * Math.random() - 1; z[i] = i % 8; }
    const started = performance.now();
    try {
      const plot = scatter.createScatterplot({ canvas: document.getElementById("c"), width: 840, height: 600,
        pointSize: 3, colorBy: "valueA", performanceMode: true,
        pointColor: ["#1746a2", "#a83a00", "#00795a", "#d0509a", "#b58900", "#2c95d8", "#26262b", "#7a1fa2"] });
      plot.draw({ x, y, z }).then(() => { window.loaded = performance.now() - started; });
      window.plot = plot;
    } catch (error) { window.failed = String(error); }
    </script>
"""
THEIR_FRAMES = """
    const [frames, done] = arguments, gl = plot.get("regl")._gl, times = [];
    (async () => {
      for (let k = 0; k < frames; k += 1) {
        const start = performance.now();
        await plot.zoomToLocation([0.01 * k, 0], 1);
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
        times.push(performance.now() - start);
      }
      done(times);
    })();
"""
WAIT = """
    const done = arguments[0], timer = setInterval(() => {
      if (window.loaded) { clearInterval(timer); done(window.loaded); }
    }, 20);
"""
POLICY = "default-src 'none'; script-src 'self' 'unsafe-inline' file:; style-src 'unsafe-inline'"


def main(*sizes: str) -> None:
    """Print one line a measurement."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asset = bundle(folder)
        print(f"regl-scatterplot as one file: {asset.stat().st_size:,} bytes")
        theirs = folder / "theirs.html"
        theirs.write_text(THEIRS, "utf-8")
        strict = folder / "strict.html"
        meta = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        strict.write_text(THEIRS.replace("<body", f"{meta}<body"), "utf-8")
        with_browser(lambda driver: refusal(driver, strict))
        for text in sizes:
            n = int(text)
            page = our_page(folder, n)
            print(f"{n:,} points, our page: {page.stat().st_size / 1e6:.1f} MB")
            for tail in ("#canvas", "#webgl"):
                with_browser(lambda driver, page=page, tail=tail: ours(driver, page, tail))
            with_browser(lambda driver, n=n: regl(driver, theirs, n))


def bundle(folder: Path) -> Path:
    """Make one file of regl-scatterplot and what it needs."""
    npm = shutil.which("npm") or "npm"
    (folder / "entry.js").write_text('export { default as createScatterplot } from "regl-scatterplot";\n')
    subprocess.run([npm, "install", "--silent", "--no-save", REGL, ESBUILD], cwd=folder, check=True)
    esbuild = folder / "node_modules" / ".bin" / "esbuild"
    options = ["--bundle", "--minify", "--format=iife", "--global-name=scatter", "--log-level=error"]
    subprocess.run([esbuild, "entry.js", *options, "--outfile=scatter.js"], cwd=folder, check=True)
    return folder / "scatter.js"


def our_page(folder: Path, n: int) -> Path:
    """Write a page of points that fill a square, in eight classes."""
    places = np.random.default_rng(0).random((n, 2))
    labels = unseen.Labels.from_values((np.arange(n) % 8).tolist())
    subject = Subject(unseen.Embedding(places), labels=labels)
    return write_explorer(subject, folder / "ours.html", title="Points", max_nodes=n)


def with_browser(work: Any) -> None:
    """Do something in a browser of its own."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(
            options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
        )
        driver.set_script_timeout(300)
        driver.set_page_load_timeout(300)
        try:
            work(driver)
        finally:
            driver.quit()


def ours(driver: Any, page: Path, tail: str) -> None:
    """Print what our page takes."""
    driver.get(page.as_uri() + tail)
    ready = driver.execute_script("return performance.now()")
    times = driver.execute_script(OURS, FRAMES)
    box = driver.execute_script("return document.getElementById('stage').getBoundingClientRect().toJSON()")
    w, h = box["width"], box["height"]
    path = [[w / 4, h / 4], [3 * w / 4, h / 4], [3 * w / 4, 3 * h / 4], [w / 4, 3 * h / 4]]
    lasso, found = driver.execute_script(OUR_LASSO, path)
    print(
        f"  ours {tail}: {shown(times)}, ready after {ready:.0f} ms, lasso {lasso:.0f} ms ({found:,} points)"
    )


def regl(driver: Any, page: Path, n: int) -> None:
    """Print what regl-scatterplot takes."""
    driver.get(f"{page.as_uri()}#{n}")
    loaded = driver.execute_async_script(WAIT)
    times = driver.execute_async_script(THEIR_FRAMES, FRAMES)
    print(f"  regl-scatterplot: {shown(times)}, drawn after {loaded:.0f} ms")


def refusal(driver: Any, page: Path) -> None:
    """Print what becomes of it under a policy that runs no code made from texts."""
    driver.get(f"{page.as_uri()}#1000")
    print("under the page's policy:", driver.execute_script("return window.failed ?? 'works'"))


def shown(times: list[float]) -> str:
    """Return the median and the range."""
    return f"{statistics.median(times):.0f} ms a frame ({min(times):.0f} to {max(times):.0f})"


if __name__ == "__main__":
    main(*(sys.argv[1:] or ("10000", "100000", "1000000")))
