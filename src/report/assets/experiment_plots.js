// The plots of an experiment. Each is an object with a title, a note, panels (one per facet), a chart for each
// panel and a table of its numbers. Series differ in colour, shape and dashes, and keep theirs under any filter.

const dashes = [[], [7, 5], [2, 4], [11, 4, 2, 4]];
// Points of later series are larger and lie beneath, so that points in the same place are all seen.
const styleOf = (index) => ({
  radius: 4 + Math.min(index, 5),
  colour: tone(`series-${index % 6 + 1}`),
  shape: shapes[index % shapes.length],
  dash: dashes[index % dashes.length],
});
const faint = (colour) => `${colour}2b`;  // the tones of the page are #rrggbb
const shortNumber = (value) => (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4)
  ? value.toExponential(0) : String(Number(value.toPrecision(6))));

// An axis by powers: 1, 2 and 5 of each, or the powers alone where there are many.
function powerAxis(title) {
  const superscript = (power) => [...String(power)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
  const parts = (value) => {
    const power = Math.floor(Math.log10(value) + 1e-9);
    return [Math.round(value / 10 ** power), power];
  };
  return axis(title, {
    type: "logarithmic",
    ticks: { color: tone("soft"), autoSkip: false, callback(value) {
      const [digit, power] = parts(value);
      if (this.min >= 1e-3 && this.max < 1e6) return shortNumber(value);
      return `${digit === 1 ? "" : `${digit}·`}10${superscript(power)}`;
    } },
    afterBuildTicks: (built) => {
      const wanted = built.max > 2000 * built.min ? [1] : [1, 2, 5];
      built.ticks = built.ticks.filter(({ value }) => wanted.includes(parts(value)[0]) && Math.abs(value / 10 ** parts(value)[1] - parts(value)[0]) < 1e-6);
    },
  });
}
// "Levenshtein (paper)", which reads better than a comma inside a phrase.
const phrased = (metric) => visible(factsOf(metric).label).replace(/, (\S+)$/, " ($1)");
const finite = (values) => values.filter((value) => Number.isFinite(value));

// The cells of a plot, split by facet and series.
function panelsOf(experiment, plot, cells) {
  const split = (some, name) => (name === "" ? [[null, some]]
    : inOrder(experiment.cells.map((cell) => experiment.valueOf(cell, name)))
      .map((value) => [value, some.filter((cell) => experiment.valueOf(cell, name) === value)]));
  return split(cells, plot.facet).filter(([, own]) => own.length > 0).map(([facet, own]) => ({
    value: valueText(facet),
    title: plot.facet === "" ? "" : `${capital(experiment.labelOf(plot.facet))}: ${valueText(facet)}`,
    series: split(own, plot.series).map(([value, members], index) => ({
      index,
      label: plot.series === "" ? "" : valueText(value),
      cells: members,
    })).filter((one) => one.cells.length > 0),
  }));
}

// An axis for a metric over these values: shares end at 1, ratios at 100, wide ranges go by powers.
function metricAxis(metric, values) {
  const { kind } = factsOf(metric);
  const known = finite(values);
  const low = Math.min(...known), high = Math.max(...known);
  const title = capital(phrased(metric));
  if (kind === "fraction" && low >= 0 && high <= 1) {
    const start = axisStart(known);
    return axis(title, { min: start, max: 1, ticks: { color: tone("soft"), stepSize: start < 0.5 ? 0.2 : start < 0.9 ? 0.05 : 0.02 } });
  }
  if (kind === "ratio" && low >= 0 && high <= 100)
    return axis(title, { min: Math.max(0, Math.floor(low / 10 - 0.1) * 10), max: 100 });
  if (low > 0 && high > 20 * low)
    return powerAxis(title);
  const write = kind === "bytes" ? bytesText : shortNumber;
  return axis(title, { suggestedMin: low, suggestedMax: high, grace: "8%", ticks: { color: tone("soft"), callback: write } });
}

// As many of the values as stand apart on the axis; the first and the last always do.
function thinned(values, place, width) {
  const apart = (left, right) => (place(right) - place(left)) * width >= 7 * Math.max(3, valueText(right).length) + 10;
  const kept = [values[values.length - 1]];
  for (const value of [...values].reverse()) {
    if (apart(value, kept[0]) && (value === values[0] || apart(values[0], value))) kept.unshift(value);
  }
  return kept;
}

// The axis of a value of the file. Zero has no logarithm: it gets a place of its own at the left.
function valueAxis(title, values, logarithmic) {
  if (!values.every((value) => typeof value === "number"))
    return { scale: axis(title, { type: "category", labels: values.map(valueText), offset: true }), place: valueText, bars: true };
  const positive = values.filter((value) => value > 0);
  const log = logarithmic && positive.length > 1 && values.every((value) => value >= 0);
  const step = log ? Math.min(10, Math.max(2, positive[1] / positive[0])) : 1;
  const place = (value) => (log && value === 0 ? positive[0] / step : value);
  const first = place(values[0]), last = place(values[values.length - 1]);
  const share = (value) => (log ? Math.log(place(value) / first) / Math.log(last / first) : (value - first) / (last - first));
  const scale = axis(title, {
    type: log ? "logarithmic" : "linear",
    min: first,
    max: last,
    ticks: { color: tone("soft"), autoSkip: false, maxRotation: 0, callback: (at) => valueText(values.find((value) => place(value) === at) ?? at) },
    afterBuildTicks: (built) => {
      built.ticks = thinned(values, share, built.chart.width - 80).map((value) => ({ value: place(value) }));
    },
  });
  if (values.length < 2) delete scale.min, delete scale.max;
  return { scale, place, bars: values.length < 2 };
}

// The spread as bars, where there is no line to lay a band around.
const spreadBars = {
  id: "spreadBars",
  afterDatasetsDraw(chart) {
    chart.data.datasets.forEach((dataset, index) => {
      if (!dataset.bars) return;
      const { ctx, scales } = chart;
      ctx.save();
      ctx.strokeStyle = dataset.borderColor;
      ctx.lineWidth = 1.5;
      chart.getDatasetMeta(index).data.forEach((point, i) => {
        const { y, deviation } = dataset.data[i];
        if (!deviation) return;
        const [low, high] = [y - deviation, y + deviation].map((value) => scales.y.getPixelForValue(value));
        ctx.beginPath();
        ctx.moveTo(point.x, low);
        ctx.lineTo(point.x, high);
        for (const end of [low, high]) {
          ctx.moveTo(point.x - 5, end);
          ctx.lineTo(point.x + 5, end);
        }
        ctx.stroke();
      });
      ctx.restore();
    });
  },
};

function chartOptions(scales, tooltip) {
  const made = options(scales, tooltip);
  made.plugins.legend.display = false;  // the figure has one for all its panels
  made.layout = { padding: { top: 8, right: 12 } };
  return made;
}

const seriesName = (experiment, plot, series) =>
  (plot.series === "" ? "" : `${experiment.labelOf(plot.series)} ${series.label}`);

function linePlot(experiment, plot) {
  const pointsOf = (series) => {
    const xs = inOrder(series.cells.map((cell) => experiment.valueOf(cell, plot.x)));
    return xs.map((x) => ({ x, ...metricSummary(series.cells.filter((cell) => experiment.valueOf(cell, plot.x) === x), plot.y) }))
      .filter((point) => point.n > 0);
  };
  const all = (panels) => panels.flatMap((panel) => panel.series.flatMap(pointsOf));
  const xName = experiment.labelOf(plot.x), yName = phrased(plot.y);
  return {
    title: plot.title || `${capital(yName)} against ${xName}`,
    note: "Mean over repetitions; the band or bar is one standard deviation to either side.",
    usable: (cell) => cell.metrics.has(plot.y),
    config(panel, panels) {
      const points = all(panels);
      const { scale, place, bars } = valueAxis(capital(xName), inOrder(points.map((point) => point.x)), plot.log_x);
      const edges = points.flatMap(({ mean, deviation }) => [mean - (deviation ?? 0), mean + (deviation ?? 0)]);
      const share = factsOf(plot.y).kind === "fraction";
      const datasets = panel.series.flatMap((series) => {
        const { colour, shape, dash, radius } = styleOf(series.index);
        const own = pointsOf(series).filter((point) => Number.isFinite(point.mean));
        const edge = (sign) => own.map(({ x, mean, deviation }) => ({ x: place(x), y: mean + sign * (deviation ?? 0) }));
        const band = (sign, fill) => ({ data: edge(sign), fill, backgroundColor: faint(colour), borderWidth: 0, pointRadius: 0, pointHitRadius: 0 });
        const line = {
          label: seriesName(experiment, plot, series),
          data: own.map((point) => ({ ...point, value: point.x, x: place(point.x), y: point.mean })),
          borderColor: colour, backgroundColor: colour, borderDash: dash, borderWidth: 2,
          pointStyle: shape, pointRadius: radius, pointHoverRadius: radius + 2, pointBorderWidth: 2, clip: false, bars,
          showLine: !bars, order: -1,
        };
        return bars ? [line] : [line, band(1, false), band(-1, "-1")];
      });
      return {
        type: "line",
        data: { datasets },
        plugins: [spreadBars],
        options: chartOptions({ x: scale, y: metricAxis(plot.y, share ? edges.map((value) => Math.min(1, Math.max(0, value))) : edges) }, {
          title: () => "",
          label: ({ raw, dataset }) => [dataset.label, `${xName} ${valueText(raw.value)}: ${yName} ${summaryText(plot.y, raw)}, n=${raw.n}`]
            .filter((part) => part !== ""),
        }),
      };
    },
    table: (panels) => plainTable(`${capital(yName)}: mean ± standard deviation`,
      [...(plot.facet ? [capital(experiment.labelOf(plot.facet))] : []), ...(plot.series ? [capital(experiment.labelOf(plot.series))] : []),
        capital(xName), capital(yName), "n"],
      panels.flatMap((panel) => panel.series.flatMap((series) => pointsOf(series).map((point) =>
        [...(plot.facet ? [panel.value] : []), ...(plot.series ? [series.label] : []), valueText(point.x), summaryText(plot.y, point), point.n]))),
      [-3, -2, -1].map((column) => column + 3 + (plot.facet ? 1 : 0) + (plot.series ? 1 : 0))),
  };
}

function scatterPlot(experiment, plot) {
  const xName = phrased(plot.x), yName = phrased(plot.y);
  const values = (panels, metric) => panels.flatMap((panel) => panel.series.flatMap((series) =>
    series.cells.map((cell) => cell.metrics.get(metric))));
  return {
    title: plot.title || `${capital(yName)} against ${xName}`,
    note: "Each point is one cell.",
    usable: (cell) => cell.metrics.has(plot.x) && cell.metrics.has(plot.y),
    config: (panel, panels) => ({
      type: "scatter",
      data: {
        datasets: panel.series.map((series) => {
          const { colour, shape } = styleOf(series.index);
          return {
            label: seriesName(experiment, plot, series),
            data: series.cells.map((cell) => ({ x: cell.metrics.get(plot.x), y: cell.metrics.get(plot.y), cell })),
            borderColor: colour, backgroundColor: faint(colour), borderWidth: 2,
            pointStyle: shape, pointRadius: 6, pointHoverRadius: 8, clip: false,
          };
        }),
      },
      options: chartOptions({ x: metricAxis(plot.x, values(panels, plot.x)), y: metricAxis(plot.y, values(panels, plot.y)) }, {
        label: ({ raw }) => [experiment.phraseOf(raw.cell), experiment.repetitionOf(raw.cell),
          `${xName} ${metricText(plot.x, raw.x)}, ${yName} ${metricText(plot.y, raw.y)}`],
      }),
    }),
    table: (panels) => plainTable(`${capital(yName)} and ${xName} of each cell`, ["Cell", "Repetition", capital(xName), capital(yName)],
      panels.flatMap((panel) => panel.series.flatMap((series) => series.cells.map((cell) =>
        [experiment.phraseOf(cell), experiment.repetitionOf(cell), metricText(plot.x, cell.metrics.get(plot.x)),
          metricText(plot.y, cell.metrics.get(plot.y))]))), [2, 3]),
  };
}

// Utility against leak: a line for each defence through its strengths, the means of repetitions as points. A point
// that nothing else is at least as good as in both is large and filled.
function frontierPlot(experiment, plot) {
  const xName = phrased(plot.x), yName = phrased(plot.y);
  const pointsOf = (series) => experiment.groupsOf(series.cells).map((group) => ({
    x: metricSummary(group.cells, plot.x).mean, y: metricSummary(group.cells, plot.y).mean,
    n: group.cells.length, cell: group.cells[0] })).filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y));
  const bestOf = (points) => points.map((one, i) => points.every((other, j) =>
    other.x > one.x || other.y > one.y || (other.x === one.x && other.y === one.y && j >= i)));
  const marked = (panel) => {
    const points = panel.series.flatMap((series) => pointsOf(series).map((point) => ({ ...point, series })));
    const best = bestOf(points);
    return points.map((point, i) => ({ ...point, best: best[i] }));
  };
  const undefended = (point) => experiment.valueOf(point.cell, "defence.kind") === "none";
  return {
    title: plot.title || `${capital(yName)} against ${xName}`,
    note: "A line for each defence, through its strengths; down is safer, left is cheaper. Large filled points are the best " +
      "of both, the cross is without a defence. Means over repetitions.",
    usable: (cell) => cell.metrics.has(plot.x) && cell.metrics.has(plot.y),
    config(panel, panels) {
      const points = marked(panel), all = panels.flatMap(marked);
      return {
        type: "scatter",
        data: {
          datasets: panel.series.map((series) => {
            const { colour, shape, dash } = styleOf(series.index);
            const own = points.filter((point) => point.series === series);
            return {
              label: seriesName(experiment, plot, series), data: own, showLine: true,
              borderColor: colour, backgroundColor: colour, borderWidth: 1.5, borderDash: dash, clip: false,
              pointStyle: own.map((point) => (undefended(point) ? "crossRot" : shape)),
              pointRadius: own.map((point) => (point.best || undefended(point) ? 9 : 5)),
              pointHoverRadius: 11, pointBorderWidth: own.map((point) => (undefended(point) ? 3 : 2)),
              pointBorderColor: own.map((point) => (point.best || undefended(point) ? tone("ink") : colour)),
              pointBackgroundColor: own.map((point) => (point.best ? colour : tone("page"))),
            };
          }),
        },
        options: chartOptions({ x: metricAxis(plot.x, all.map((point) => point.x)), y: metricAxis(plot.y, [0, ...all.map((point) => point.y)]) }, {
          label: ({ raw }) => [experiment.phraseOf(raw.cell), `${xName} ${metricText(plot.x, raw.x)}, ${yName} ${metricText(plot.y, raw.y)}, n=${raw.n}`],
        }),
      };
    },
    table: (panels) => plainTable(`${capital(yName)} against ${xName}`, ["Cells", capital(xName), capital(yName), "n", "Best of both"],
      panels.flatMap((panel) => marked(panel).map((point) => [experiment.phraseOf(point.cell), metricText(plot.x, point.x),
        metricText(plot.y, point.y), point.n, point.best ? "yes" : ""])), [1, 2, 3]),
  };
}

// Words of a cell as [index of the text, id, score, typed].
const wordsOfCell = (experiment, cell) => experiment.words.find((list) => list.cell === cell.index);

function magnitudesPlot(experiment, plot) {
  // Of repetitions, the first: ranks of different cells have no mean.
  const pointsOf = (series) => wordsOfCell(experiment, series.cells[0]).words
    .map(([text, , score, typed]) => ({ word: visible(data.texts[text]), score: Number(score), size: Math.abs(score), typed: Boolean(typed) }))
    .filter((point) => Number.isFinite(point.size))
    .sort((a, b) => b.size - a.size)
    .map((point, rank) => ({ ...point, rank: rank + 1 }));
  return {
    title: plot.title || "Magnitudes by rank",
    note: "The change of each word’s output bias without its sign, largest first. Large shapes: words that were " +
      "typed. Small crosses: words that were not. Of repetitions, the first is drawn.",
    usable: (cell) => wordsOfCell(experiment, cell) !== undefined,
    config(panel, panels) {
      const sizes = panels.flatMap((one) => one.series.flatMap(pointsOf)).map((point) => point.size);
      const positive = sizes.filter((size) => size > 0);
      const floor = Math.min(...positive);
      const log = Math.max(...positive) > 50 * floor;
      return {
        type: "line",
        data: {
          datasets: panel.series.map((series) => {
            const { colour, shape, dash, radius } = styleOf(series.index);
            const points = pointsOf(series);
            return {
              label: seriesName(experiment, plot, series),
              data: points.map((point) => ({ ...point, x: point.rank, y: log ? Math.max(point.size, floor) : point.size })),
              borderColor: colour, borderDash: dash, borderWidth: 1.25, backgroundColor: colour, clip: false,
              pointStyle: points.map((point) => (point.typed ? shape : "crossRot")),
              pointRadius: points.map((point) => (point.typed ? radius : 2.5)),
              pointBorderWidth: points.map((point) => (point.typed ? 2 : 1.25)),
              pointHoverRadius: radius + 2,
            };
          }),
        },
        options: chartOptions({
          x: axis("Rank", { type: "linear", min: 1, ticks: { color: tone("soft"), precision: 0 } }),
          y: log ? powerAxis("Magnitude") : axis("Magnitude", { beginAtZero: true, ticks: { color: tone("soft"), callback: shortNumber } }),
        }, {
          title: () => "",
          label: ({ raw, dataset }) => [dataset.label, `${raw.word} (${raw.typed ? "typed" : "not typed"})`,
            `rank ${raw.rank}, change ${raw.score.toFixed(10)}`].filter((part) => part !== ""),
        }),
      };
    },
    table: (panels) => plainTable("Magnitudes by rank", ["Series", "Rank", "Word", "Magnitude", "Typed"],
      panels.flatMap((panel) => panel.series.flatMap((series) => pointsOf(series).map((point) =>
        [[panel.title, series.label].filter((part) => part).join(", ") || "–", point.rank, point.word, point.size.toFixed(10),
          point.typed ? "typed" : "not typed"]))), [1, 3]),
  };
}

const plotKinds = new Map([["line", linePlot], ["scatter", scatterPlot], ["frontier", frontierPlot], ["magnitudes", magnitudesPlot]]);

// What a series looks like; `lined` where its points are joined.
function drawSwatch(canvas, index, lined) {
  const scale = devicePixelRatio || 1, [width, height] = [lined ? 34 : 16, 16];
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  const ctx = canvas.getContext("2d");
  const { colour, shape, dash } = styleOf(index);
  ctx.scale(scale, scale);
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = 2;
  if (lined) {
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(0, height / 2);
    ctx.lineTo(width, height / 2);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  Chart.helpers.drawPoint(ctx, { pointStyle: shape, radius: 5, borderWidth: 2, rotation: 0 }, width / 2, height / 2);
}

// One legend for all panels of a figure; its entries switch their series on and off.
function legendOf(experiment, plot, panels, hidden, changed) {
  const entries = new Map(panels.flatMap((panel) => panel.series.map((series) => [series.index, series.label])));
  return element("ul", { class: "legend", "aria-label": experiment.labelOf(plot.series) },
    element("li", { class: "legend-title" }, capital(experiment.labelOf(plot.series))),
    ...[...entries].sort(([a], [b]) => a - b).map(([index, label]) => {
      const swatch = element("canvas", { class: "swatch", "aria-hidden": "true" });
      const button = element("button", { type: "button", "aria-pressed": hidden.has(index) ? "false" : "true" }, swatch, label);
      button.addEventListener("click", () => {
        if (!hidden.delete(index)) hidden.add(index);
        changed();
      });
      try {
        drawSwatch(swatch, index, plot.kind !== "scatter");
      } catch {
        swatch.remove();
      }
      return element("li", {}, button);
    }));
}

const whereText = (experiment, plot) => (plot.where.length === 0 ? "" : ` Only where ${plot.where
  .map(([name, value]) => `${experiment.labelOf(name)} is ${valueText(value)}`).join(" and ")}.`);
const belongsTo = (experiment, plot) => (cell) =>
  plot.where.every(([name, value]) => experiment.valueOf(cell, name) === value);

// Axes that some point of a line is averaged over though its cells are no repetitions: the plot does not tell them
// apart and no filter does. An axis that goes with another (the kind of noise with its strength) mixes nothing.
function mixedAxes(experiment, plot, cells) {
  if (plot.kind !== "line") return [];
  const told = [plot.x, plot.series, plot.facet].filter((name) => name !== "");
  const points = new Map();
  for (const cell of cells) {
    const point = JSON.stringify(told.map((name) => experiment.valueOf(cell, name)));
    if (!points.has(point)) points.set(point, []);
    points.get(point).push(cell);
  }
  const mixes = (name) => [...points.values()].some((own) => unique(own.map((cell) => experiment.valueOf(cell, name))).length > 1);
  return experiment.axes.filter((name) => !told.includes(name) && mixes(name)).map((name) => experiment.labelOf(name));
}

// A figure for the plot; returns it with what draws it for a list of cells.
function plotFigure(experiment, plot) {
  const chart = plotKinds.get(plot.kind)(experiment, plot);
  const body = element("div", { class: "panels" });
  const legend = element("div", {});
  const mixed = element("p", { class: "mixed" });
  const figure = element("figure", {}, element("figcaption", {},
    element("h4", {}, typeset(chart.title)), element("p", {}, chart.note + whereText(experiment, plot)), mixed), legend, body);
  const fill = numbersBelow(figure);
  const hidden = new Set();

  function draw(cells) {
    const drawn = cells.filter((cell) => chart.usable(cell) && belongsTo(experiment, plot)(cell));
    const panels = panelsOf(experiment, plot, drawn);
    const over = mixedAxes(experiment, plot, drawn);
    mixed.textContent = over.length === 0 ? "" : `Each point also averages over ${over.join(" and ")}; filters above choose one.`;
    for (const canvas of body.querySelectorAll("canvas")) if (typeof Chart !== "undefined") Chart.getChart(canvas)?.destroy();
    body.replaceChildren();
    legend.replaceChildren();
    figure.dataset.panels = panels.length;
    if (panels.length === 0) {
      body.append(element("p", { class: "nothing" }, "No cell that is done has these numbers."));
      fill(null, true);
      return;
    }
    if (plot.series !== "") legend.append(legendOf(experiment, plot, panels, hidden, () => draw(cells)));
    const seen = (panel) => ({ ...panel, series: panel.series.filter((series) => !hidden.has(series.index)) });
    const whole = panels.map((panel) => {
      const label = `${chart.title}${panel.title ? `, ${panel.title}` : ""}. The table below has its numbers.`;
      const box = element("div", { class: "canvas" }, element("canvas", { role: "img", "aria-label": label }));
      body.append(element("div", { class: "panel" }, panel.title ? element("p", { class: "panel-title" }, panel.title) : null, box));
      return drawChart(box, () => chart.config(seen(panel), panels));
    });
    fill(chart.table(panels), whole.every(Boolean));
  }
  return { figure, draw };
}

// The words of one cell as a table.
function wordsFigure(experiment, plot) {
  const controls = element("form", { class: "controls", "aria-label": "Whose words to show" });
  const table = element("table", {});
  const summary = element("p", { class: "summary", role: "status" });
  const figure = element("figure", { "data-panels": "all" }, element("figcaption", {},
    element("h4", {}, typeset(plot.title || "Words of the update")),
    element("p", {}, `Each word, its index in the vocabulary and the change of its output bias.${whereText(experiment, plot)}`)),
  controls, summary, element("div", { class: "scroll fit tall", tabindex: "0", role: "region", "aria-label": "Words" }, table));
  const columns = [
    { key: "word", name: "Word", value: ([text]) => visible(data.texts[text]) },
    { key: "index", name: "Index", value: ([, id]) => id, number: true },
    { key: "value", name: "Value", value: ([, , score]) => Number(score), number: true },
    { key: "typed", name: "Typed", value: ([, , , typed]) => typed },
  ];
  const show = sortableTable(table, "Words of the update", columns, ([text, id, score, typed]) => element("tr", {},
    element("th", { scope: "row" }, element("span", { class: "text", dir: "auto" }, visible(data.texts[text]))),
    element("td", { class: "number" }, String(id)),
    element("td", { class: "number" }, Number(score).toFixed(10)),
    element("td", {}, typed ? "✓ typed" : "not typed")), `${experiment.name}/words-`, 40);

  function draw(cells) {
    const able = cells.filter((cell) => wordsOfCell(experiment, cell) && belongsTo(experiment, plot)(cell));
    const choose = (cell) => {
      const list = cell ? wordsOfCell(experiment, cell) : { words: [], total: 0 };
      summary.textContent = cell === undefined ? "No cell that is done has words."
        : `${plural(list.words.filter((word) => word[3]).length, "typed word")} among the ` +
          (list.words.length < list.total ? `first ${list.words.length} of ${list.total}.` : `${list.total}.`);
      show(list.words);
    };
    controls.replaceChildren(...(able.length < 2 ? [] : [selector("Cell",
      able.map((cell, index) => [String(index), `${experiment.phraseOf(cell)}, ${experiment.repetitionOf(cell)}`]), "0",
      (value) => choose(able[Number(value)])).label]));
    choose(able[0]);
  }
  return { figure, draw };
}

function unknownFigure(experiment, plot) {
  return {
    figure: element("figure", {}, element("p", { class: "failed" }, `This page knows no plot of kind “${visible(plot.kind)}”.`)),
    draw() {},
  };
}

// Figures with one panel stand in pairs; the others, and one that would stand alone, take the whole width.
function arrange(figures) {
  let waiting = null;
  for (const figure of figures) {
    const single = (figure.dataset.panels ?? "1") === "1" || figure.dataset.panels === "0";
    figure.classList.toggle("wide", !single);
    if (!single || waiting === null) waiting?.classList.add("wide");
    waiting = single && waiting === null ? figure : null;
  }
  waiting?.classList.add("wide");
}

function figureOf(experiment, plot) {
  if (plot.kind === "words") return wordsFigure(experiment, plot);
  return (plotKinds.has(plot.kind) ? plotFigure : unknownFigure)(experiment, plot);
}
