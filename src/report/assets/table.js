// Every row of the results, to sort and to filter.

const columns = [
  { key: "attack", name: "Attack", value: (row) => `${row.attack} ${row.method_label}` },
  { key: "threat", name: "Threat model", value: (row) => row.threat_model },
  { key: "client", name: "Messages", value: (row) => row.messages, text: (row) => String(row.messages), number: true },
  { key: "protocol", name: "Protocol", value: (row) => [row.protocol, row.epochs], text: (row) => row.protocol_label },
  { key: "defence", name: "Defence", value: (row) => [row.defence === "none" ? "" : row.defence, row.sigma], text: (row) => row.defence_label },
  { key: "recovered", name: "Recovered", value: (row) => row.recovered, text: (row) => `${row.recovered} of ${row.truth}`, number: true },
  { key: "certified", name: "Certified", value: (row) => row.certified,
    text: (row) => (row.certified === null ? "–" : row.certified ? "✓ yes" : "no") },
  { key: "exact", name: "Exact", value: (row) => row.scores.exact, text: (row) => fraction(row.scores.exact), number: true, bar: true },
  { key: "f1", name: "Word F1", value: (row) => row.scores.f1 ?? row.scores.word_f1,
    text: (row) => fraction(row.scores.f1 ?? row.scores.word_f1), number: true, bar: true },
  { key: "precision", name: "Precision", value: (row) => row.scores.precision ?? row.scores.exact_precision,
    text: (row) => fraction(row.scores.precision ?? row.scores.exact_precision), number: true },
  { key: "recall", name: "Recall", value: (row) => row.scores.recall, text: (row) => fraction(row.scores.recall), number: true },
  { key: "levenshtein_paper", name: "Levenshtein, paper", value: (row) => row.scores.levenshtein_paper,
    text: (row) => ratio(row.scores.levenshtein_paper), number: true },
  { key: "levenshtein", name: "Levenshtein, plain", value: (row) => row.scores.levenshtein, text: (row) => ratio(row.scores.levenshtein), number: true },
  { key: "matched", name: "Matched", value: (row) => row.scores.matched, text: (row) => ratio(row.scores.matched), number: true },
  { key: "utility", name: "Perplexity", value: (row) => row.perplexity_after,
    text: (row) => `${perplexity(row.perplexity_before)} → ${perplexity(row.perplexity_after)}`, number: true },
  { key: "seconds", name: "Seconds", value: (row) => row.seconds, text: (row) => row.seconds.toFixed(1), number: true },
];

const filters = [
  { key: "attack", name: "Attack", of: (row) => row.attack, text: (row) => row.attack },
  { key: "method", name: "Method", of: (row) => row.method_label, text: (row) => row.method_label },
  { key: "size", name: "Client", of: (row) => String(row.messages), text: (row) => row.client_label },
  { key: "defence", name: "Defence", of: (row) => row.defence_label, text: (row) => row.defence_label },
];

// Lists by their members, numbers by size, texts by letter; what has no value comes last either way.
function compare(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (Array.isArray(a)) {
    for (let i = 0; i < a.length; ++i) {
      const order = compare(a[i], b[i], direction);
      if (order !== 0) return order;
    }
    return 0;
  }
  return direction * (typeof a === "string" ? a.localeCompare(b) : a - b);
}

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
  let sorted = columns.find((column) => column.key === view.get("sort")) ?? null;
  let direction = view.get("order") === "down" ? -1 : 1;
  const body = element("tbody");
  const headings = columns.map((column) => {
    const button = element("button", { type: "button" }, column.name);
    button.addEventListener("click", () => {
      // Numbers are first wanted largest first.
      direction = sorted === column ? -direction : column.number ? -1 : 1;
      sorted = column;
      remember({ sort: column.key, order: direction < 0 ? "down" : "up" });
      draw();
    });
    return element("th", { scope: "col", class: column.number ? "number" : null }, button);
  });
  byId("table").classList.toggle("one-threat", unique(data.rows.map((row) => row.threat_model)).length === 1);
  byId("table").append(
    element("caption", { class: "hidden" }, "All attacks on all updates"),
    element("thead", {}, element("tr", {}, ...headings)), body);

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
    if (sorted) rows.sort((a, b) => compare(sorted.value(a), sorted.value(b), direction));
    body.replaceChildren(...rows.map(tableRow));
    headings.forEach((heading, index) => {
      if (columns[index] === sorted) heading.setAttribute("aria-sort", direction < 0 ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    byId("table-summary").textContent = rows.length === data.rows.length
      ? plural(rows.length, "row") : `${rows.length} of ${plural(data.rows.length, "row")}`;
    byId("table").dataset.shown = rows.length;
  }
  draw();
}
