// The parts of an experiment's section: filters, the table of groups, recovered texts, failures, how to run it.

const mostRows = 300;

// A select for each axis. `changed` gets the cells that remain, now and after each choice.
function filterCells(experiment, form, changed) {
  const chosen = experiment.axes.map(() => null);  // index into the choices of the axis
  experiment.axes.forEach((name, axis) => {
    const choices = experiment.choices[axis];
    const parameter = `${experiment.name}/${name}`;
    const found = choices.findIndex((value) => String(value) === view.get(parameter));
    if (found >= 0) chosen[axis] = found;
    form.append(selector(capital(experiment.labelOf(name)), [["", "all"], ...choices.map((value, index) => [String(index), valueText(value)])],
      chosen[axis] === null ? "" : String(chosen[axis]), (value) => {
        chosen[axis] = value === "" ? null : Number(value);
        remember({ [parameter]: value === "" ? null : String(choices[chosen[axis]]) });
        apply();
      }).label);
  });
  function apply() {
    changed(experiment.cells.filter((cell) => chosen.every((index, axis) =>
      index === null || cell.values[axis] === experiment.choices[axis][index])));
  }
  apply();
}

function repetitionsCell(group) {
  const notes = [];
  if (group.failed > 0) notes.push(element("strong", { class: "bad" }, `✗ ${group.failed} failed`));
  if (group.pending > 0) notes.push(element("span", { class: "method" }, `${group.pending} pending`));
  return element("td", {}, String(group.done), ...notes.flatMap((note) => [" ", note]));
}

function groupColumns(experiment) {
  return [
    ...experiment.axes.map((name, axis) => ({
      key: name, name: capital(experiment.labelOf(name)), value: (group) => group.values[axis],
      number: experiment.choices[axis].every((value) => typeof value === "number"), axis,
    })),
    { key: "n", name: "n", value: (group) => group.done },
    ...experiment.metrics.map((metric) => ({
      key: metric, name: capital(visible(factsOf(metric).label)), value: (group) => group.summaries.get(metric)?.mean ?? null,
      number: true, metric,
    })),
  ];
}

function groupRow(columns, group) {
  return element("tr", { "data-failed": group.failed > 0 ? String(group.failed) : null }, ...columns.map((column, index) => {
    if (column.key === "n" && column.axis === undefined) return repetitionsCell(group);
    const text = column.metric === undefined ? valueText(group.values[column.axis])
      : summaryText(column.metric, group.summaries.get(column.metric), group.done);
    const cell = element(index === 0 ? "th" : "td", { class: column.number ? "number" : null, scope: index === 0 ? "row" : null }, text);
    const mean = column.value(group);
    if (column.metric !== undefined && mean !== null && factsOf(column.metric).kind === "fraction" && factsOf(column.metric).larger === "more leak") {
      cell.classList.add("bar");
      cell.style.setProperty("--share", mean);
    }
    return cell;
  }));
}

// Returns the part and what shows the groups of a list of cells.
function groupTable(experiment) {
  const columns = groupColumns(experiment);
  const table = element("table", { class: "groups" });
  const summary = element("p", { class: "summary", role: "status" });
  const part = element("div", { class: "part-of" }, element("h3", {}, "Every number"), summary,
    element("div", { class: columns.length > 8 ? "scroll tall wide" : "scroll fit tall", role: "region",
      "aria-label": "Means of the groups", tabindex: "0" }, table));
  const total = experiment.groupsOf(experiment.cells).length;
  const show = sortableTable(table, "Mean and spread of each group of cells", columns, (group) => groupRow(columns, group),
    `${experiment.name}/`, mostRows);
  return {
    part,
    draw(cells) {
      const groups = experiment.groupsOf(cells);
      show(groups);
      summary.textContent = `${groups.length === total ? plural(total, "group") : `${groups.length} of ${plural(total, "group")}`}` +
        " of cells; mean ± standard deviation over n repetitions. The headings sort.";
    },
  };
}

function readPart(experiment) {
  if (experiment.samples.length === 0) return null;
  const cellOf = (sample) => experiment.cells[sample.cell];
  const form = element("form", { class: "controls", "aria-label": "Which cell to read" });
  const summary = element("p", { class: "summary", role: "status" });
  const place = element("div", {});
  const facets = experiment.axes.map((name, axis) => [capital(experiment.labelOf(name)), (sample) => valueText(cellOf(sample).values[axis])]);
  facets.push(["Repetition", (sample) => experiment.repetitionOf(cellOf(sample))]);
  const parameter = `${experiment.name}/cell`;
  const wanted = experiment.samples.find((sample) => String(sample.cell) === view.get(parameter));
  const first = wanted ?? experiment.samples[0];
  pairChooser(form, experiment.samples, facets, first, (sample, kept) => {
    if (sample !== first || view.has(parameter)) remember({ [parameter]: String(sample.cell) });
    const exact = sample.pairs.filter((pair) => pair[2]).length;
    summary.replaceChildren(element("strong", {}, `${exact} of ${sample.pairs.length}`), " shown pairs are word for word" +
      (sample.pairs.length < sample.total ? `; ${sample.total} in all.` : "."));
    const caption = `True and recovered messages: ${experiment.phraseOf(cellOf(sample))}, ${experiment.repetitionOf(cellOf(sample))}`;
    showPairs(place, sample.pairs.filter(kept), caption).dataset.cell = sample.cell;
  });
  return element("div", { class: "part-of" }, element("h3", {}, "What was read"),
    element("p", {}, "Each true message beside the one recovered from the update. ",
      element("mark", { class: "same" }, "Underlined words"), " stand in both, in the same order."), form, summary, place,
    element("p", { class: "notice" }, "This page holds the true messages. If they belong to real people, it is as " +
      "confidential as they are."));
}

function failuresPart(experiment) {
  if (experiment.counts.failed === 0) return null;
  const table = element("table", {});
  const columns = [
    { key: "cell", name: "Cell", value: (failure) => experiment.phraseOf(experiment.cells[failure.cell]) || "–" },
    { key: "repetition", name: "Repetition", value: (failure) => experiment.repetitionOf(experiment.cells[failure.cell]) },
    { key: "error", name: "Error", value: (failure) => visible(data.texts[failure.error]) || "no reason was recorded" },
    { key: "key", name: "Key", value: (failure) => visible(failure.key) },
  ];
  const part = element("div", { class: "part-of failures" }, element("h3", {}, `What failed: ${plural(experiment.counts.failed, "cell")}`),
    element("p", {}, "These cells have no numbers and enter no mean. Running the experiment again tries them again."),
    element("div", { class: "scroll", role: "region", "aria-label": "Failed cells", tabindex: "0" }, table));
  sortableTable(table, "Failed cells", columns, (failure) => element("tr", {},
    ...columns.map((column, index) => element(index === 0 ? "th" : "td", { scope: index === 0 ? "row" : null },
      element("span", { class: column.key === "key" ? "text key" : "text", dir: "auto" }, column.value(failure))))),
  `${experiment.name}/failures-`, 20)(experiment.failures);
  return part;
}

function runPart(experiment) {
  const settings = experiment.settings.map(([name, value]) => definition(capital(experiment.labelOf(name)), valueText(value)));
  return element("div", { class: "part-of" }, element("h3", {}, "Run it again"),
    experiment.command === "" ? null : element("pre", { tabindex: "0" }, visible(experiment.command)),
    experiment.profile === "" ? null : element("p", {}, `Profile: ${visible(experiment.profile)}.`),
    settings.length === 0 ? null : element("details", { class: "settings" },
      element("summary", {}, `${plural(settings.length, "value")} that all cells share`), element("dl", { class: "facts" }, ...settings)));
}
