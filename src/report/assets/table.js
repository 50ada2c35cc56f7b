// Every row of the results, to sort and to filter.

const columns = [
  { key: "attack", name: "Attack", value: (row) => `${row.attack} ${row.method_label}` },
  { key: "threat", name: "Threat model", value: (row) => row.threat_model },
  { key: "client", name: { message: "Messages", sequence: "Sequences", record: "Records" }[data.unit], value: (row) => row.messages, text: (row) => String(row.messages), number: true },
  { key: "protocol", name: "Protocol", value: (row) => [row.protocol, row.epochs], text: (row) => row.protocol_label },
  { key: "defence", name: "Defence", value: (row) => [row.defence === "none" ? "" : row.defence, row.strength],
    text: (row) => (row.adaptive ? row.defence_label : `${row.defence_label} (not adaptive)`) },
  { key: "recovered", name: "Recovered", value: (row) => row.recovered, text: (row) => `${row.recovered} of ${row.truth}`, number: true },
  { key: "certified", name: "Certified", value: (row) => row.certified,
    text: (row) => (row.certified === null ? "–" : row.certified ? "✓ yes" : "no") },
  { key: "exact", name: "Exact", value: (row) => row.scores.exact, text: (row) => fraction(row.scores.exact), number: true, bar: true },
  ...(data.unit === "sequence" ? [{ key: "place", name: "In place", value: (row) => row.scores.total_accuracy,
    text: (row) => fraction(row.scores.total_accuracy), number: true, bar: true }] : []),
  ...(data.unit === "record" ? [
    { key: "top_50", name: "Top 50", value: (row) => row.scores.top_50, text: (row) => fraction(row.scores.top_50), number: true, bar: true },
    { key: "edits", name: "Edits", value: (row) => row.scores.edits, text: (row) => ratio(row.scores.edits), number: true },
    { key: "owners", name: "Owners right", value: (row) => row.scores.owners, text: (row) => fraction(row.scores.owners), number: true },
  ] : [
  { key: "f1", name: "Word F1", value: (row) => row.scores.f1 ?? row.scores.word_f1,
    text: (row) => fraction(row.scores.f1 ?? row.scores.word_f1), number: true, bar: true },
  { key: "precision", name: "Precision", value: (row) => row.scores.precision ?? row.scores.exact_precision,
    text: (row) => fraction(row.scores.precision ?? row.scores.exact_precision), number: true },
  { key: "recall", name: "Recall", value: (row) => row.scores.recall, text: (row) => fraction(row.scores.recall), number: true },
  { key: "levenshtein_paper", name: "Levenshtein, paper", value: (row) => row.scores.levenshtein_paper,
    text: (row) => ratio(row.scores.levenshtein_paper), number: true },
  { key: "levenshtein", name: "Levenshtein, plain", value: (row) => row.scores.levenshtein, text: (row) => ratio(row.scores.levenshtein), number: true },
  { key: "matched", name: "Matched", value: (row) => row.scores.matched, text: (row) => ratio(row.scores.matched), number: true },
  ]),
  { key: "utility", name: "Perplexity", value: (row) => row.perplexity_after,
    text: (row) => `${perplexity(row.perplexity_before)} → ${perplexity(row.perplexity_after)}`, number: true },
  { key: "seconds", name: "Seconds", value: (row) => row.seconds, text: (row) => row.seconds.toFixed(1), number: true },
];

const filters = [
  { key: "attack", name: "Attack", of: (row) => row.attack, text: (row) => row.attack },
  { key: "threat", name: "Threat model", of: (row) => row.threat_model, text: (row) => row.threat_model },
  { key: "method", name: "Method", of: (row) => row.method_label, text: (row) => row.method_label },
  { key: "size", name: "Client", of: (row) => String(row.messages), text: (row) => row.client_label },
  { key: "defence", name: "Defence", of: (row) => row.defence_label, text: (row) => row.defence_label },
];

function tableRow(row) {
  return element("tr", { "data-id": row.id }, ...columns.map((column, index) => {
    if (index === 0)
      return element("th", { scope: "row" }, row.attack, " ", element("span", { class: "method" }, row.method_label));
    const value = column.value(row);
    const cell = element("td", {}, visible(column.text ? column.text(row) : value));
    if (column.number) cell.classList.add("number");
    if (column.bar && value !== null) {
      cell.classList.add("bar");
      cell.style.setProperty("--share", value);
    }
    return cell;
  }));
}

function showTable() {
  const choices = {};
  byId("table").classList.toggle("one-threat", unique(data.rows.map((row) => row.threat_model)).length === 1);
  const show = sortableTable(byId("table"), "All attacks on all updates", columns, tableRow);

  for (const filter of filters) {
    const known = new Map(data.rows.map((row) => [filter.of(row), filter.text(row)]));
    choices[filter.key] = known.has(view.get(filter.key)) ? view.get(filter.key) : "";
    byId("table-controls").append(selector(filter.name, [["", "all"], ...known], choices[filter.key], (value) => {
      choices[filter.key] = value;
      remember({ [filter.key]: value });
      draw();
    }).label);
  }

  function draw() {
    const rows = data.rows.filter((row) => filters.every(({ key, of }) => choices[key] === "" || of(row) === choices[key]));
    show(rows);
    byId("table-summary").textContent = rows.length === data.rows.length
      ? plural(rows.length, "row") : `${rows.length} of ${plural(data.rows.length, "row")}`;
  }
  draw();
}
