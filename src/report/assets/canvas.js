// What every chart shares: tones of the page, axes, drawing and the numbers beside the drawing.

const shapes = ["circle", "rect", "triangle", "rectRot", "star", "crossRot"];
const tone = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function axis(title, extra = {}) {
  return {
    title: { display: true, text: title, color: tone("soft") },
    ticks: { color: tone("soft") },
    grid: { color: tone("line"), borderColor: tone("soft") },
    ...extra,
  };
}

function options(scales, tooltip) {
  return {
    animation: false,
    maintainAspectRatio: false,
    scales,
    interaction: { mode: "nearest", intersect: true },
    plugins: {
      legend: { position: "bottom", labels: { color: tone("ink"), usePointStyle: true, boxWidth: 22, padding: 14 } },
      tooltip: { callbacks: tooltip, usePointStyle: true },
    },
  };
}

// Where a narrow band of values lies, the axis begins just below it; the caption of the axis shows that.
const axisStart = (values) => Math.max(0, Math.floor(Math.min(1, ...values) * 20 - 0.2) / 20);

// Pixels that are not blank, read back from the canvas: proof that something was drawn.
function inkOn(canvas) {
  const { data: pixels } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let ink = 0;
  for (let i = 3; i < pixels.length; i += 4) ink += pixels[i] !== 0;
  return ink;
}

// Draws on the canvas in `box`, in place of what was there. False, and a notice in the box, when it cannot.
function drawChart(box, config) {
  try {
    const canvas = box.querySelector("canvas");
    if (canvas === null) return false;
    Chart.getChart(canvas)?.destroy();
    new Chart(canvas, config());
    canvas.dataset.drawn = inkOn(canvas);
    return true;
  } catch (problem) {
    const reason = problem instanceof Error ? problem.message : String(problem);
    box.style.height = "auto";
    box.replaceChildren(
      element("p", { class: "failed" }, `This chart could not be drawn (${reason}). Its numbers stand below.`));
    return false;
  }
}

// A closed list below a figure for the numbers of its chart; returns what fills it (null: there are none).
function numbersBelow(figure) {
  const details = element("details", {}, element("summary", {}, "The numbers of this chart"));
  figure.append(details);
  return (table, drawn) => {
    details.hidden = table === null;
    if (table === null) return;
    details.replaceChildren(details.firstChild, element("div", { class: "scroll", tabindex: "0", role: "region",
      "aria-label": "The numbers of this chart" }, table));
    if (!drawn) details.open = true;
  };
}

// Draws all charts now, and again whenever the colours of the page change.
function keepDrawn(draw) {
  if (typeof Chart !== "undefined") Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  // Paper is light, whatever the screen is.
  const print = (on) => {
    document.documentElement.classList.toggle("printing", on);
    draw();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}
