// The cells of an experiment, and what is computed from them.

const metricFacts = new Map(Object.entries(data.metrics));
const factsOf = (metric) => metricFacts.get(metric) ?? { label: metric, kind: "number", larger: "neither" };

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

function valueText(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? String(Number(value.toPrecision(6))) : visible(value);
}

function bytesText(value) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  for (; value >= 999.5 && unit + 1 < units.length; ++unit) value /= 1000;
  return `${value.toFixed(unit > 0 && value < 9.95 ? 1 : 0)} ${units[unit]}`;
}

function secondsText(value) {
  if (value > 0 && value < 0.01) return "<0.01";
  return value.toFixed(value < 10 ? 2 : value < 1000 ? 1 : 0);
}

// Numbers as the terminal's table writes them.
const texts = {
  fraction,
  ratio,
  perplexity,
  count: (value) => value.toFixed(Number.isInteger(value) || value >= 1000 ? 0 : 1),
  seconds: secondsText,
  bytes: bytesText,
  number: (value) => String(Number(value.toPrecision(4))),
};
function metricText(metric, value) {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "not a number" : value > 0 ? "∞" : "−∞";
  return texts[factsOf(metric).kind](value);
}
function spreadText(metric, value) {
  const kind = factsOf(metric).kind;
  const step = { fraction: 0.001, ratio: 0.1, count: 0.1, perplexity: 0.1, seconds: 0.01 }[kind] ?? 0;
  if (value > 0 && value < step / 2) return `<${step}`;
  if (kind === "fraction" || kind === "ratio") return value.toFixed(kind === "fraction" ? 3 : 1);
  return metricText(metric, value);
}
function summaryText(metric, found, done) {
  if (found === null) return "–";
  return metricText(metric, found.mean) + (found.deviation === null ? "" : ` ± ${spreadText(metric, found.deviation)}`) +
    (done === undefined || found.n === done ? "" : ` (n=${found.n})`);
}

// Mean and sample standard deviation; no spread for one value, exactly none for equal ones.
function summaryOf(values) {
  if (values.length === 0) return null;
  const n = values.length;
  const equal = values.every((value) => value === values[0]);
  const mean = equal ? values[0] : values.reduce((sum, value) => sum + value, 0) / n;
  const squares = equal ? 0 : values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { n, mean, deviation: n < 2 || !Number.isFinite(mean) ? null : Math.sqrt(squares / (n - 1)) };
}

// Numbers by size where all are numbers; otherwise as they first appear.
function inOrder(values) {
  const distinct = unique(values);
  return distinct.every((value) => typeof value === "number") ? distinct.sort((a, b) => a - b) : distinct;
}

class Experiment {
  constructor(raw, number) {
    Object.assign(this, raw);
    this.number = number;
    this.labels = new Map(Object.entries(raw.labels));
    this.shared = new Map(raw.settings);
    const columns = raw.cells;
    const decode = ({ list, index }, cell) => list[index[cell]];
    const states = { d: "done", f: "failed", p: "pending" };
    const metrics = Object.entries(columns.metrics);
    this.cells = [...columns.states].map((state, index) => ({
      index,
      state: states[state],
      values: columns.values.map((column) => decode(column, index)),
      group: columns.values.map((column) => column.index[index]).join(" "),
      seed: decode(columns.seeds, index),
      texts: decode(columns.texts, index),
      metrics: new Map(metrics.filter(([, column]) => column[index] !== null)
        .map(([name, column]) => [name, Number(column[index])])),
    }));
    this.choices = this.axes.map((_, axis) => inOrder(this.cells.map((cell) => cell.values[axis])));
  }

  labelOf(name) {
    return visible(this.labels.get(name) ?? name);
  }

  // The value of a cell by its name in the file: one that varies, or one that all cells share.
  valueOf(cell, name) {
    const axis = this.axes.indexOf(name);
    if (axis >= 0) return cell.values[axis];
    if (name === "seed" || name === "texts") return cell[name];
    return this.shared.get(name) ?? null;
  }

  // "client 2, seed 7", or what of it tells repetitions apart.
  repetitionOf(cell) {
    const severalTexts = unique(this.cells.map((other) => other.texts)).length > 1;
    return (severalTexts && cell.texts !== "" ? `${visible(cell.texts)}, ` : "") + `seed ${cell.seed}`;
  }

  // "messages 16, epochs 10".
  phraseOf(cell) {
    return this.axes.map((name, axis) => `${this.labelOf(name)} ${valueText(cell.values[axis])}`).join(", ");
  }

  // The cells that are repetitions of each other, with their numbers.
  groupsOf(cells) {
    const groups = new Map();
    for (const cell of cells) {
      if (!groups.has(cell.group)) groups.set(cell.group, { values: cell.values, cells: [], done: 0, failed: 0, pending: 0 });
      const group = groups.get(cell.group);
      group.cells.push(cell);
      ++group[cell.state];
    }
    for (const group of groups.values()) {
      group.summaries = new Map(this.metrics.map((metric) => [metric, metricSummary(group.cells, metric)]));
    }
    return [...groups.values()];
  }
}

// Only cells that are done have numbers.
function metricSummary(cells, metric) {
  return summaryOf(cells.filter((cell) => cell.metrics.has(metric)).map((cell) => cell.metrics.get(metric)));
}
