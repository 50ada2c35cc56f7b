// The data of this page, and the few helpers that every part uses. Texts enter the page as text nodes only.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

// An element with attributes and children; a child that is a string becomes a text node.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const unique = (values) => [...new Set(values)];
const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// Numbers as the terminal's table writes them: what is not all never rounds to all, nor what is some to none.
function rounded(value, digits, top) {
  if (value === null || value === undefined) return "–";
  const step = 10 ** -digits;
  let shown = Number(value.toFixed(digits));
  if (shown <= 0 && value > 0) shown = step;
  if (shown >= top && value < top) shown = top - step;
  return shown.toFixed(digits);
}
const fraction = (value) => rounded(value, 3, 1);
const ratio = (value) => rounded(value, 1, 100);
function perplexity(value) {
  if (value === null) return "–";
  if (value >= 1e6) return value.toExponential(1);
  return value >= 1000 ? value.toFixed(0) : value.toFixed(1);
}

// Control characters have no shape of their own: show the pictures that Unicode has for them.
const visible = (text) =>
  text.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))).replace(/\u007f/g, "\u2421");

// The view lives in the address after '#', so that it can be shared and comes back on reload.
const view = new URLSearchParams(location.hash.slice(1));
function remember(changes) {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") view.delete(name);
    else view.set(name, value);
  }
  const hash = view.toString();
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
}

// A labelled select; options are [value, text].
function selector(label, options, chosen, changed) {
  const select = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
  select.value = chosen;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  select.addEventListener("change", () => changed(select.value));
  return { select, label: element("label", {}, label, select) };
}

// A table of plain cells; numeric columns are given by their index.
function plainTable(caption, headings, rows, numeric) {
  const kind = (column) => (numeric.includes(column) ? { class: "number" } : {});
  return element("table", {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {},
      ...headings.map((heading, column) => element("th", { scope: "col", ...kind(column) }, heading)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {},
      ...row.map((cell, column) => element("td", kind(column), String(cell)))))));
}

// Straight apostrophes inside words, as programs write them, become typographic ones in running text.
const typeset = (text) => visible(text).replace(/(\p{L})'(\p{L})/gu, "$1’$2");

function definition(term, text) {
  return element("div", {}, element("dt", {}, term), element("dd", {}, typeset(text)));
}
