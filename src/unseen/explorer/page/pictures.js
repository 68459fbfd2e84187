// Owns the saving of the map: PNG as it looks, SVG for print, with editable shapes and names.
const MOST_SHAPES = 200000;

function savePng() {
  const whole = make("canvas"),
    pen = whole.getContext("2d");
  Object.assign(whole, { width: points.width, height: points.height });
  pen.fillStyle = page.palette.map[themeName()];
  pen.fillRect(0, 0, whole.width, whole.height);
  draw(); // WebGL forgets its picture after each frame
  for (const canvas of [points, overlay]) pen.drawImage(canvas, 0, 0);
  whole.toBlob((picture) => {
    download("map.png", picture);
    tell("Saved as map.png");
  }, "image/png");
}

function saveSvg() {
  const grow = growth(),
    marks = [],
    style = getComputedStyle(document.documentElement);
  const inView = scene.order.filter((i) => {
    const x = pixelX(px[i]),
      y = pixelY(py[i]);
    return x > -9 && y > -9 && x < size.width + 9 && y < size.height + 9;
  });
  if (inView.length > MOST_SHAPES) {
    tell(
      `An SVG of ${inView.length.toLocaleString("en")} points is too large; zoom in, or save a PNG`,
    );
    return;
  }
  for (const i of inView) {
    const scale = (scene.radius[i] * grow) / 6,
      look = [...scene.colour.subarray(4 * i, 4 * i + 3)]
        .map((v) => v.toString(16).padStart(2, "0"))
        .join("");
    marks.push(
      drawn("use", {
        href: `#shape-${scene.shape[i]}`,
        fill: `#${look}`,
        opacity: (scene.colour[4 * i + 3] / 255).toFixed(2),
        transform:
          `translate(${pixelX(px[i]).toFixed(1)} ${pixelY(py[i]).toFixed(1)}) ` +
          `scale(${scale.toFixed(2)}) translate(-7 -7)`,
      }),
    );
  }
  const names = namePlaces(overlay.getContext("2d")).map(({ text, x, y }) =>
    drawn("text", { x: x.toFixed(1), y: (y + 4.5).toFixed(1) }, text),
  );
  const picture = drawn(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${size.width} ${size.height}`,
      width: size.width,
      height: size.height,
    },
    drawn(
      "defs",
      {},
      ...page.shapes.map((name, k) =>
        drawn("path", { id: `shape-${k}`, d: OUTLINES[name], "fill-rule": "evenodd" }),
      ),
    ),
    drawn("rect", { width: size.width, height: size.height, fill: page.palette.map[themeName()] }),
    ...marks,
    drawn(
      "g",
      {
        "font-family": "system-ui, sans-serif",
        "font-size": 13,
        "font-weight": 600,
        "text-anchor": "middle",
        fill: style.getPropertyValue("--ink"),
        stroke: page.palette.map[themeName()],
        "stroke-width": 4,
        "paint-order": "stroke",
      },
      ...names,
    ),
  );
  download(
    "map.svg",
    new Blob([new XMLSerializer().serializeToString(picture)], { type: "image/svg+xml" }),
  );
  tell("Saved as map.svg");
}
byId("save-png").addEventListener("click", savePng);
byId("save-svg").addEventListener("click", saveSvg);
