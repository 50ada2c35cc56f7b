// True and recovered messages side by side; messages are indices into data.texts.

const firstShown = 12;

const wordsOf = (text) => visible(text).split(/(\s+)/u).filter((part) => part !== "");
const isSpace = (part) => /^\s+$/u.test(part);

// For two lists of words, which stand in both in the same order: a longest common subsequence.
function commonWords(left, right) {
  const length = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; --i) {
    for (let j = right.length - 1; j >= 0; --j) {
      length[i][j] = left[i] === right[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const inLeft = new Set(), inRight = new Set();
  for (let i = 0, j = 0; i < left.length && j < right.length;) {
    if (left[i] === right[j]) {
      inLeft.add(i++);
      inRight.add(j++);
    } else if (length[i + 1][j] >= length[i][j + 1]) ++i;
    else ++j;
  }
  return [inLeft, inRight];
}

// Runs of common words are marked as one, with the spaces between them. Each run keeps its own direction.
function textCell(parts, same, label) {
  const text = element("span", { class: "text", dir: "auto" });
  let run = "", marked = false, space = "", index = 0;
  const finish = () => {
    if (run !== "") text.append(element(marked ? "mark" : "span", { class: marked ? "run" : "run other" }, run));
    text.append(space);
    run = space = "";
  };
  for (const part of parts) {
    if (isSpace(part)) {
      space += part;
      continue;
    }
    const common = same.has(index++);
    if (common !== marked) finish();
    marked = common;
    run += (run === "" ? "" : space) + part;
    if (run === part) text.append(space);
    space = "";
  }
  finish();
  return element("td", { role: "cell", "data-label": label }, text);
}

const emptyCell = (reason, label) =>
  element("td", { role: "cell", "data-label": label }, element("span", { class: "nothing" }, reason));

function pairRow([truthIndex, recoveredIndex, exact, score]) {
  const truth = truthIndex === null ? null : wordsOf(data.texts[truthIndex]);
  const recovered = recoveredIndex === null ? null : wordsOf(data.texts[recoveredIndex]);
  const plain = (parts) => (parts ?? []).filter((part) => !isSpace(part));
  const [inTruth, inRecovered] = commonWords(plain(truth), plain(recovered));
  let state = element("span", {}, `≈ ${ratio(score)} of 100`);
  if (exact) state = element("span", { class: "exact" }, "✓ exact");
  else if (recovered === null) state = element("span", { class: "missed" }, "✗ missed");
  else if (truth === null) state = element("span", { class: "missed" }, "✗ invented");
  return element("tr", { role: "row", class: exact ? null : "part" },
    truth === null ? emptyCell("no such message", "true") : textCell(truth, inTruth, "true"),
    recovered === null ? emptyCell("not recovered", "recovered") : textCell(recovered, inRecovered, "recovered"),
    element("td", { role: "cell", class: "state", "data-label": "" }, state));
}

// The pairs as a table in `place`, the first ones until all are asked for. Returns the table.
function showPairs(place, pairs, caption, everything = false) {
  const shown = everything ? pairs : pairs.slice(0, firstShown);
  const head = ["True message", "Recovered", "Agreement"].map((name, column) =>
    element("th", { scope: "col", role: "columnheader", class: column === 2 ? "state" : null }, name));
  const table = element("table", { class: "pairs", role: "table" },
    element("caption", { class: "hidden" }, caption),
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...head)),
    element("tbody", { role: "rowgroup" }, ...shown.map(pairRow)));
  place.replaceChildren(table);
  if (shown.length < pairs.length) {
    const more = element("button", { type: "button", class: "more" }, `Show all ${pairs.length}`);
    more.addEventListener("click", () => showPairs(place, pairs, caption, true));
    place.append(more);
  }
  return table;
}

// Selects that together choose one of `items`, which begins as `current`; facets are [label, text of an item].
// A choice leads to the nearest item that has it. The last select chooses the kind of pairs.
function pairChooser(form, items, facets, current, changed) {
  let kind = "all";
  function choose(facet, value) {
    const likeness = (item) =>
      facets.reduce((sum, [, of], index) => sum + (of(item) === (index === facet ? value : of(current))), 0);
    const able = items.filter((item) => facets[facet][1](item) === value);
    current = able.reduce((best, item) => (likeness(item) > likeness(best) ? item : best));
    update();
  }
  const selects = facets.map(([label, of], facet) => {
    const made = selector(label, unique(items.map(of)).map((value) => [value, value]), "", (value) => choose(facet, value));
    form.append(made.label);
    return made.select;
  });
  form.append(selector("Show", [["all", "all"], ["exact", "exact ones"], ["rest", "the rest"]], kind, (value) => {
    kind = value;
    update();
  }).label);
  function update() {
    facets.forEach(([, of], facet) => { selects[facet].value = of(current); });
    changed(current, (pair) => kind === "all" || Boolean(pair[2]) === (kind === "exact"));
  }
  update();
}

// The recovered messages, faint, under the title: what the leaf still shows of the writing that was erased.
function showUndertext(pairs) {
  const texts = pairs.filter((pair) => pair[1] !== null).map((pair) => visible(data.texts[pair[1]]));
  // Decoration, all in one direction: no text may turn those after it round.
  const line = texts.join("  ·  ").replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
  if (line !== "") byId("undertext").textContent = `${line}  ·  `.repeat(Math.ceil(9000 / line.length)).slice(0, 9000);
}
