// Owns the two renderers of points: WebGL 2, and plain pixels where there is none. Both get
// order (which nodes, the last on top), colour (RGBA per node), shape and radius (pixels per node).
const VERTEX = `#version 300 es
in vec2 place; in vec4 tint; in float form; in float radius;
uniform vec2 middle; uniform vec2 stretch; uniform float grow;
out vec4 colour; flat out int shape; out float reach;
void main() {
  gl_Position = vec4((place - middle) * stretch, 0.0, 1.0);
  reach = radius * grow;
  gl_PointSize = 2.0 * reach + 2.0;
  colour = tint; shape = int(form + 0.5);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour; flat in int shape; in float reach; out vec4 result;
void main() {
  vec2 p = (gl_PointCoord - 0.5) * (2.0 * reach + 2.0) / reach;
  vec2 a = abs(p); float far;
  if (shape == 1) far = max(p.y, a.x * 0.87 - p.y * 0.5) * 2.0;
  else if (shape == 2) far = max(a.x, a.y) * 1.25;
  else if (shape == 3) far = a.x + a.y;
  else if (shape == 4) far = max(min(a.x, a.y) * 2.6, max(a.x, a.y));
  else if (shape == 5) far = max(abs(a.x - a.y) * 1.84, (a.x + a.y) * 0.72);
  else if (shape == 6) far = max(length(p), 1.0 + (0.45 - length(p)));
  else far = length(p);
  float inside = clamp((1.0 - far) * reach + 0.5, 0.0, 1.0);
  if (inside <= 0.0) discard;
  result = vec4(colour.rgb, 1.0) * colour.a * inside;
}`;

/** How far a spot of the unit symbol lies outside of it; the same shapes as in the shader. */
function distance(shape, x, y) {
  const ax = Math.abs(x),
    ay = Math.abs(y),
    r = Math.hypot(x, y);
  switch (shape) {
    case 1:
      return Math.max(y, ax * 0.87 - y * 0.5) * 2;
    case 2:
      return Math.max(ax, ay) * 1.25;
    case 3:
      return ax + ay;
    case 4:
      return Math.max(Math.min(ax, ay) * 2.6, Math.max(ax, ay));
    case 5:
      return Math.max(Math.abs(ax - ay) * 1.84, (ax + ay) * 0.72);
    case 6:
      return Math.max(r, 1.45 - r);
    default:
      return r;
  }
}

/** Whether WebGL 2 runs on a graphics card; done in software it is far slower than plain pixels. */
function hasGraphicsCard() {
  const probe = document
    .createElement("canvas")
    .getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!probe) return false;
  const extension = probe.getExtension("WEBGL_debug_renderer_info");
  const name = String(
    probe.getParameter(extension ? extension.UNMASKED_RENDERER_WEBGL : probe.RENDERER),
  );
  const lose = probe.getExtension("WEBGL_lose_context");
  if (lose) lose.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

function webglRenderer(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
  if (!gl) return null;
  const program = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  const attribute = (name, size, type, normal) => {
    const buffer = gl.createBuffer(),
      place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, normal, 0, 0);
    return (data) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    };
  };
  const set = {
    place: attribute("place", 2, gl.FLOAT, false),
    tint: attribute("tint", 4, gl.UNSIGNED_BYTE, true),
    form: attribute("form", 1, gl.UNSIGNED_BYTE, false),
    radius: attribute("radius", 1, gl.FLOAT, false),
  };
  const places = new Float32Array(2 * n);
  for (let i = 0; i < n; i += 1) {
    places[2 * i] = px[i];
    places[2 * i + 1] = py[i];
  }
  set.place(places);
  const elements = gl.createBuffer();
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, elements);
  const uniform = Object.fromEntries(
    ["middle", "stretch", "grow"].map((name) => [name, gl.getUniformLocation(program, name)]),
  );
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  let shown = 0;
  return {
    kind: "webgl",
    scene(scene) {
      set.tint(scene.colour);
      set.form(scene.shape);
      set.radius(scene.radius);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, scene.order, gl.STATIC_DRAW);
      shown = scene.order.length;
    },
    draw(view, grow) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(uniform.middle, view.x, view.y);
      gl.uniform2f(
        uniform.stretch,
        (2 * view.scaleX) / canvas.width,
        (-2 * view.scaleY) / canvas.height,
      );
      gl.uniform1f(uniform.grow, grow);
      gl.drawElements(gl.POINTS, shown, gl.UNSIGNED_INT, 0);
    },
  };
}

const MANY = 30000; // points above this number have no soft edges where the processor draws them

/** Points as pixels of an image: without graphics hardware faster than WebGL or paths. */
function pixelRenderer(canvas) {
  const context = canvas.getContext("2d", { alpha: false });
  let scene = null,
    image = null,
    stamps = new Map(),
    flat = null;
  const stamp = (shape, radius, width, least) => {
    const key = shape * 1000 + Math.round(radius * 4);
    if (!stamps.has(key)) {
      const half = Math.ceil(radius),
        at = [],
        cover = [];
      for (let y = -half; y <= half; y += 1)
        for (let x = -half; x <= half; x += 1) {
          const inside = Math.min(
            1,
            Math.max(0, (1 - distance(shape, x / radius, y / radius)) * radius + 0.5),
          );
          if (inside > least) {
            at.push(y * width + x);
            cover.push(inside);
          }
        }
      stamps.set(key, { half, at: Int32Array.from(at), cover: Float32Array.from(cover) });
    }
    return stamps.get(key);
  };
  /** What each point looks like on the ground, as one number. */
  const flattened = (colour, ground) => {
    const all = new Uint32Array(n),
      mix = (i, k) =>
        Math.round(ground[k] + (colour[4 * i + k] - ground[k]) * (colour[4 * i + 3] / 255));
    for (let i = 0; i < n; i += 1)
      all[i] = (255 << 24) | (mix(i, 2) << 16) | (mix(i, 1) << 8) | mix(i, 0);
    return all;
  };
  return {
    kind: "canvas",
    scene(given) {
      scene = given;
      flat = null;
      stamps = new Map();
    },
    draw(view, grow) {
      const { width, height } = canvas,
        many = scene.order.length > MANY;
      if (image === null || image.width !== width || image.height !== height) {
        image = context.createImageData(width, height);
        stamps = new Map();
      }
      const out = image.data,
        whole = new Uint32Array(out.buffer),
        { colour, order } = scene,
        ground = rgb(page.palette.map[themeName()]);
      whole.fill((255 << 24) | (ground[2] << 16) | (ground[1] << 8) | ground[0]);
      if (many) flat ??= flattened(colour, ground);
      let shape = -1,
        radius = -1,
        mark = null;
      for (let o = 0; o < order.length; o += 1) {
        const i = order[o];
        if (scene.shape[i] !== shape || scene.radius[i] !== radius) {
          shape = scene.shape[i];
          radius = scene.radius[i];
          mark = stamp(shape, radius * grow, width, many ? 0.49 : 0.02);
        }
        const { half, at, cover } = mark;
        const x = Math.round((px[i] - view.x) * view.scaleX + width / 2),
          y = Math.round((py[i] - view.y) * view.scaleY + height / 2);
        if (x < half || y < half || x >= width - half || y >= height - half) continue;
        const start = y * width + x;
        if (many) {
          for (let k = 0; k < at.length; k += 1) whole[start + at[k]] = flat[i];
          continue;
        }
        const r = colour[4 * i],
          g = colour[4 * i + 1],
          b = colour[4 * i + 2],
          a = colour[4 * i + 3] / 255;
        for (let k = 0; k < at.length; k += 1) {
          const spot = 4 * (start + at[k]),
            share = cover[k] * a;
          out[spot] += (r - out[spot]) * share;
          out[spot + 1] += (g - out[spot + 1]) * share;
          out[spot + 2] += (b - out[spot + 2]) * share;
        }
      }
      context.putImageData(image, 0, 0);
    },
  };
}
