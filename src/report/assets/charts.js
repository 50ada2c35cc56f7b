// The charts of leaks without a defence. Each has its numbers in a table too, so that nothing is lost without a canvas.

const sizes = unique(data.rows.map((row) => row.messages)).sort((a, b) => a - b);
const shapeOf = (size) => shapes[sizes.indexOf(size) % shapes.length];
// Points of larger clients are larger and lie beneath, so that points in the same place are all seen.
const spread = { circle: 1, rect: 1.35, triangle: 1.2, rectRot: 1.15 };  // how far a shape must reach to show as large
const radiusOf = (size) => (4 + 2 * Math.min(sizes.indexOf(size), 4)) * (spread[shapeOf(size)] ?? 1);
const colourOf = (size) => tone(`series-${sizes.indexOf(size) % 6 + 1}`);
const sizeLabel = (size) => plural(size, data.unit);

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

function sizesChart() {
  const rows = data.rows.filter((row) => row.defence === "none" && row.scores.total_accuracy !== null);
  const known = unique(rows.map((row) => row.messages)).sort((a, b) => a - b);
  const name = (row) => `${row.threat_model}, ${row.method_label}`;
  const lines = unique(rows.map(name)).map((label) => {
    const own = rows.filter((row) => name(row) === label);
    return { label, best: own[0].method === "best",
      points: known.map((size) => own.find((row) => row.messages === size)?.scores.total_accuracy ?? null) };
  });
  return {
    figure: "chart-sizes",
    table: () => plainTable("Share of tokens in their place, without a defence", ["Adversary, method", ...known.map(sizeLabel)],
      lines.map((line) => [line.label, ...line.points.map(fraction)]), known.map((_, i) => i + 1)),
    config: () => ({
      type: "line",
      data: {
        labels: known.map(String),
        datasets: lines.map((line, index) => ({
          label: line.label,
          data: line.points,
          spanGaps: true,
          borderColor: tone(`series-${index % 6 + 1}`),
          backgroundColor: tone(`series-${index % 6 + 1}`),
          borderDash: line.best ? [] : [7, 5],
          borderWidth: 2,
          pointStyle: shapes[index % shapes.length],
          pointRadius: 6,
          clip: false,
        })),
      },
      options: options({ x: axis("sequences in one update"), y: axis("tokens in their place", { min: 0, max: 1 }) },
        { label: (item) => `${item.dataset.label}: ${fraction(item.raw)}` }),
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

// How client 0's record goes along with every client: its owner's line is the thick one.
function curvesCharts() {
  return data.curves.map((curves, index) => {
    const rounds = curves.clients[0]?.map((_, round) => String(round + 1)) ?? [];
    const figure = element("figure", { id: `chart-curves-${index}` },
      element("figcaption", {}, element("h3", {}, visible(curves.title)),
        element("p", {}, "After each round, from all rounds until then. The record's owner is drawn thick.")),
      element("div", { class: "canvas" }, element("canvas", { role: "img",
        "aria-label": "Line chart of correlations against rounds, one line for each client. The table below has its numbers." })));
    byId("chart-curves").append(figure);
    const name = (client) => (client === curves.owner ? `client ${client}, the owner` : `client ${client}`);
    return {
      figure: figure.id,
      table: () => plainTable(visible(curves.title), ["Client", ...rounds],
        curves.clients.map((values, client) => [name(client), ...values.map((value) => value.toFixed(2))]),
        rounds.map((_, i) => i + 1)),
      config: () => ({
        type: "line",
        data: {
          labels: rounds,
          datasets: curves.clients.map((values, client) => ({
            label: name(client),
            data: values,
            borderColor: tone(`series-${client % 6 + 1}`),
            backgroundColor: tone(`series-${client % 6 + 1}`),
            borderWidth: client === curves.owner ? 4 : 1.5,
            borderDash: client === curves.owner ? [] : [6, 4],
            pointStyle: shapes[client % shapes.length],
            pointRadius: 3,
            clip: false,
          })),
        },
        options: options({ x: axis("round"), y: axis("correlation", { suggestedMin: -0.5, suggestedMax: 1 }) },
          { label: (item) => `${item.dataset.label}: ${item.raw.toFixed(2)}` }),
      }),
    };
  });
}

function placeChart(chart) {
  const figure = byId(chart.figure);
  const box = figure.querySelector(".canvas");
  const fill = numbersBelow(figure);
  const draw = () => fill(chart.table(), drawChart(box, chart.config));
  if (chart.controls) figure.querySelector(".controls").append(...chart.controls(draw));
  return draw;
}

function showCharts() {
  const own = {
    sequence: () => [sizesChart()],
    message: () => [epochsChart(), scatterChart()],
    record: curvesCharts,
  };
  const charts = [...own[data.unit](), ...frontierCharts()].map(placeChart);
  keepDrawn(() => charts.forEach((draw) => draw()));
}
