// Figures: drawings with a caption, which can be saved as SVG and PNG files.
import { button, h, s } from "./dom.js";

const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "fill-opacity", "stroke-opacity", "font-size", "font-weight", "font-family", "text-anchor", "dominant-baseline"];

// A figure around a drawing. `draw` may be called again; the buttons save what is shown.
export function figure(name, caption) {
  const holder = h("div", { class: "drawing" }), text = h("figcaption", {}, caption);
  const save = (kind) => () => { const drawing = holder.querySelector("svg"); if (drawing) saveFigure(drawing, name, kind); };
  const tools = h("div", { class: "tools" },
    button("SVG", save("svg"), { class: "quiet", "aria-label": `Save the figure ${name} as SVG` }),
    button("PNG", save("png"), { class: "quiet", "aria-label": `Save the figure ${name} as PNG` }));
  const element = h("figure", { id: `figure-${name}` }, h("div", { class: "over" }, text, tools), holder);
  return { element, holder, say: (words) => { text.textContent = words; }, show: (drawing) => holder.replaceChildren(drawing) };
}

export function drawing(width, height, label, ...children) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...children);
}

// The drawing by itself: colours as they are on the page now, on the page's paper.
function standalone(shown) {
  const copy = shown.cloneNode(true), from = [shown, ...shown.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, n) => {
    const style = getComputedStyle(element);
    for (const name of KEPT) to[n].setAttribute(name, style.getPropertyValue(name));
    to[n].removeAttribute("class");
  });
  const { width, height } = shown.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.prepend(s("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }));
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export async function saveFigure(shown, name, kind) {
  const { text, width, height } = standalone(shown), blob = new Blob([text], { type: "image/svg+xml" });
  if (kind === "svg") { saveBlob(blob, `tenfold-${name}.svg`); return; }
  const image = new Image(), url = URL.createObjectURL(blob);
  await new Promise((resolve, reject) => { image.onload = resolve; image.onerror = reject; image.src = url; });
  const canvas = h("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  URL.revokeObjectURL(url);
  canvas.toBlob((png) => saveBlob(png, `tenfold-${name}.png`), "image/png");
}
