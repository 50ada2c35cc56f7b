// The three charts. Each has its numbers in a table too, so that nothing is lost without a canvas.

const sizes = unique(data.rows.map((row) => row.messages)).sort((a, b) => a - b);
const shapes = ["circle", "rect", "triangle", "rectRot", "star", "crossRot"];
const shapeOf = (size) => shapes[sizes.indexOf(size) % shapes.length];
// Points of larger clients are larger and lie beneath, so that points in the same place are all seen.
const spread = { circle: 1, rect: 1.35, triangle: 1.2, rectRot: 1.15 };  // how far a shape must reach to show as large
const radiusOf = (size) => (4 + 2 * Math.min(sizes.indexOf(size), 4)) * (spread[shapeOf(size)] ?? 1);
const drawnCharts = [];

const tone = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const colourOf = (size) => tone(`series-${sizes.indexOf(size) % 6 + 1}`);
const sizeLabel = (size) => plural(size, "message");

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

function epochsChart() {
  const rows = data.rows.filter((row) => row.attack === "words" && row.defence === "none" && row.scores.f1 !== null);
  const step = (row) => (row.protocol === "FedSGD" ? 0 : row.epochs);
  const steps = unique(rows.map(step)).sort((a, b) => a - b);
  const name = (value) => (value === 0 ? "FedSGD" : String(value));
  const start = axisStart(rows.map((row) => row.scores.f1));
  const lines = [];
  for (const size of sizes) {
    for (const method of unique(data.rows.map((row) => row.method_label)).sort()) {
      const own = rows.filter((row) => row.messages === size && row.method_label === method);
      if (own.length === 0) continue;
      const points = steps.map((value) => {
        const here = own.filter((row) => step(row) === value);
        return here.length ? here.reduce((sum, row) => sum + row.scores.f1, 0) / here.length : null;
      });
      lines.push({ size, method, points });
    }
  }
  return {
    figure: "chart-epochs",
    table: () => plainTable("Word F1 without a defence", ["Client", "Method", ...steps.map((v) => (v ? plural(v, "epoch") : "FedSGD"))],
      lines.map((line) => [sizeLabel(line.size), line.method, ...line.points.map(fraction)]), steps.map((_, i) => i + 2)),
    config: () => ({
      type: "line",
      data: {
        labels: steps.map(name),
        datasets: lines.map((line) => ({
          label: `${line.size}, ${line.method}`,
          data: line.points,
          spanGaps: true,
          borderColor: colourOf(line.size),
          backgroundColor: line.method === "best" ? colourOf(line.size) : tone("page"),
          borderDash: line.method === "best" ? [] : line.method === "paper" ? [7, 5] : [2, 4],
          borderWidth: 2,
          pointStyle: shapeOf(line.size),
          pointRadius: radiusOf(line.size),
          pointHoverRadius: radiusOf(line.size) + 2,
          pointBorderColor: line.method === "best" ? tone("page") : colourOf(line.size),
          pointBorderWidth: line.method === "best" ? 1 : 2,
          clip: false,
        })),
      },
      options: options({
        x: axis("local epochs"),
        y: axis("word F1", { min: start, max: 1, ticks: { color: tone("soft"), stepSize: start < 0.5 ? 0.1 : 0.05 } }),
      }, { label: (item) => `${item.dataset.label}: ${fraction(item.raw)}` }),
    }),
  };
}

function scatterChart() {
  const rows = data.rows.filter((row) =>
    row.attack === "sentences" && row.scores.word_f1 !== null && row.scores.levenshtein_paper !== null);
  const groups = [];
  for (const size of sizes) {
    for (const method of unique(data.rows.map((row) => row.method_label)).sort()) {
      const own = rows.filter((row) => row.messages === size && row.method_label === method);
      if (own.length) groups.push({ size, method, own });
    }
  }
  const setting = (row) => `${row.protocol_label}; defence ${row.defence_label}`;
  return {
    figure: "chart-scatter",
    table: () => plainTable("Levenshtein ratio and word F1 of each attacked update",
      ["Client", "Method", "Protocol; defence", "Word F1", "Levenshtein, paper"],
      groups.flatMap(({ size, method, own }) => own.map((row) =>
        [sizeLabel(size), method, setting(row), fraction(row.scores.word_f1), ratio(row.scores.levenshtein_paper)])), [3, 4]),
    config: () => ({
      type: "scatter",
      data: {
        datasets: groups.map(({ size, method, own }) => ({
          label: `${size}, ${method}`,
          data: own.map((row) => ({ x: row.scores.word_f1, y: row.scores.levenshtein_paper, row })),
          borderColor: colourOf(size),
          backgroundColor: method === "best" ? colourOf(size) : "transparent",
          borderWidth: 2,
          pointStyle: shapeOf(size),
          pointRadius: 6,
          pointHoverRadius: 8,
          clip: false,
        })),
      },
      options: options({
        x: axis("word F1", { min: 0, max: 1 }),
        y: axis("Levenshtein ratio (paper)", { suggestedMin: 40, max: 100 }),
      }, {
        label: ({ raw, dataset }) =>
          [`${dataset.label} · ${setting(raw.row)}`, `word F1 ${fraction(raw.x)}, ratio ${ratio(raw.y)}`],
      }),
    }),
  };
}

// Clients under each kind of noise, with the strengths tried; strength 0 is the client without a defence.
function noiseCases() {
  const cases = new Map();
  const setting = (row) => `${row.client_label}, ${row.protocol_label}`;
  const usable = data.rows.filter((row) => row.method === "best" && !row.oracle);
  for (const row of usable.filter((candidate) => candidate.defence !== "none")) {
    const key = `${setting(row)}, ${row.defence}`;
    if (cases.has(key)) continue;
    const own = usable.filter((other) => setting(other) === setting(row) &&
      (other.defence === "none" || other.defence === row.defence));
    const points = unique(own.map((other) => other.sigma)).sort((a, b) => a - b).map((sigma) => {
      const here = own.filter((other) => other.sigma === sigma);
      const sentences = here.find((other) => other.attack === "sentences");
      const words = here.find((other) => other.attack === "words");
      return {
        sigma,
        exact: sentences?.scores.exact ?? null,
        words: words?.scores.f1 ?? sentences?.scores.word_f1 ?? null,
        perplexity: (sentences ?? words).perplexity_after,
      };
    });
    cases.set(key, points);
  }
  return cases;
}

function noiseChart() {
  const cases = noiseCases();
  const names = [...cases.keys()];
  let chosen = view.get("noise");
  // To begin with, the case with the most strengths; among equals, the client that the verdict speaks of.
  const strongest = rowOf.get(data.strongest);
  const worth = (name) => cases.get(name).length +
    (name.startsWith(`${strongest.client_label}, ${strongest.protocol_label}, `) ? 0.5 : 0);
  if (!cases.has(chosen))
    chosen = names.reduce((best, name) => (worth(name) > worth(best) ? name : best), names[0]);
  const points = () => cases.get(chosen) ?? [];
  const line = (label, key, colour, shape, dash, axisName) => ({
    label,
    data: points().map((point) => point[key]),
    borderColor: tone(colour),
    backgroundColor: tone(colour),
    borderDash: dash,
    borderWidth: 2,
    pointStyle: shape,
    pointRadius: 6,
    clip: false,
    yAxisID: axisName,
    spanGaps: true,
  });
  const wideRange = () => {
    const values = points().map((point) => point.perplexity).filter((value) => value !== null);
    return values.length > 0 && Math.max(...values) > 20 * Math.min(...values);
  };
  return {
    figure: "chart-noise",
    controls: (redraw) => names.length === 0 ? [] : [selector("Client and noise", names.map((name) => [name, name]), chosen,
      (value) => {
        chosen = value;
        remember({ noise: value });
        redraw();
      }).label],
    table: () => plainTable(`Leak and utility under noise: ${chosen ?? "no noise was tried"}`,
      ["Noise σ", "Exact", "Word F1", "Perplexity after"],
      points().map((point) => [point.sigma, fraction(point.exact), fraction(point.words), perplexity(point.perplexity)]),
      [0, 1, 2, 3]),
    config: () => ({
      type: "line",
      data: {
        labels: points().map((point) => String(point.sigma)),
        datasets: [
          line("messages read word for word (share)", "exact", "series-1", "circle", [], "leak"),
          line("word F1", "words", "series-3", "rect", [8, 4], "leak"),
          line("perplexity (right axis)", "perplexity", "series-2", "triangle", [2, 4], "utility"),
        ],
      },
      options: options({
        x: axis("noise σ"),
        leak: axis("leak", { position: "left", min: 0, max: 1 }),
        utility: axis("perplexity", {
          position: "right",
          type: wideRange() ? "logarithmic" : "linear",
          beginAtZero: true,
          grid: { drawOnChartArea: false, borderColor: tone("soft") },
        }),
      }, {
        label: (item) => `${item.dataset.label}: ` +
          (item.dataset.yAxisID === "utility" ? perplexity(item.raw) : fraction(item.raw)),
      }),
    }),
  };
}

// Pixels that are not blank, read back from the canvas: proof that something was drawn.
function inkOn(canvas) {
  const { data: pixels } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let ink = 0;
  for (let i = 3; i < pixels.length; i += 4) ink += pixels[i] !== 0;
  return ink;
}

function placeChart(chart) {
  const figure = byId(chart.figure);
  const canvas = figure.querySelector("canvas");
  const box = canvas.parentElement;
  const details = element("details", {}, element("summary", {}, "The numbers of this chart"));
  figure.append(details);
  let drawn = null;

  function draw() {
    const open = details.open;
    details.replaceChildren(details.firstChild, element("div", { class: "scroll", tabindex: "0", role: "region",
      "aria-label": "The numbers of this chart" }, chart.table()));
    details.open = open;
    try {
      if (drawn) drawn.destroy();
      drawn = new Chart(canvas, chart.config());
      canvas.dataset.drawn = inkOn(canvas);
    } catch (problem) {
      const reason = problem instanceof Error ? problem.message : String(problem);
      box.style.height = "auto";
      box.replaceChildren(
        element("p", { class: "failed" }, `This chart could not be drawn (${reason}). Its numbers stand below.`));
      details.open = true;
    }
  }
  if (chart.controls) figure.querySelector(".controls").append(...chart.controls(draw));
  drawnCharts.push(draw);
  draw();
}

function showCharts() {
  if (typeof Chart !== "undefined") Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  [epochsChart(), scatterChart(), noiseChart()].forEach(placeChart);
  const redraw = () => drawnCharts.forEach((draw) => draw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is light, whatever the screen is.
  const print = (on) => {
    document.documentElement.classList.toggle("printing", on);
    redraw();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}
