// A table whose headings sort it.

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

// Fills `table`; a column is { key, name, value, number } and `rowOf` makes the element of a row. The order lives in
// the view under prefix + "sort" and prefix + "order". Rows beyond `most` wait behind a button. Returns what
// shows a list of rows.
function sortableTable(table, caption, columns, rowElement, prefix = "", most = Infinity) {
  let sorted = columns.find((column) => column.key === view.get(`${prefix}sort`)) ?? null;
  let direction = view.get(`${prefix}order`) === "down" ? -1 : 1;
  let rows = [], everything = false;
  const body = element("tbody");
  const more = element("button", { type: "button", class: "more" });
  more.addEventListener("click", () => {
    everything = true;
    draw();
  });
  const headings = columns.map((column) => {
    const button = element("button", { type: "button" }, column.name);
    button.addEventListener("click", () => {
      // Numbers are first wanted largest first.
      direction = sorted === column ? -direction : column.number ? -1 : 1;
      sorted = column;
      remember({ [`${prefix}sort`]: column.key, [`${prefix}order`]: direction < 0 ? "down" : "up" });
      draw();
    });
    return element("th", { scope: "col", class: column.number ? "number" : null }, button);
  });
  table.classList.add("sortable");
  table.append(element("caption", { class: "hidden" }, caption), element("thead", {}, element("tr", {}, ...headings)), body);

  function draw() {
    const ordered = sorted ? [...rows].sort((a, b) => compare(sorted.value(a), sorted.value(b), direction)) : rows;
    body.replaceChildren(...(everything ? ordered : ordered.slice(0, most)).map(rowElement));
    headings.forEach((heading, index) => {
      if (columns[index] === sorted) heading.setAttribute("aria-sort", direction < 0 ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    table.dataset.shown = rows.length;
    more.textContent = `Show all ${rows.length}`;
    if (!everything && rows.length > most) table.parentElement?.after(more);
    else more.remove();
  }
  return (shown) => {
    rows = shown;
    draw();
  };
}
