// True and recovered messages side by side.

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

function showMessages() {
  const samples = data.samples.filter((sample) => sample.pairs.length > 0);
  if (samples.length === 0) {
    byId("messages").append(element("p", { class: "nothing" }, "These results hold no sample messages."));
    return;
  }
  const facets = [["client_label", "Client"], ["protocol_label", "Protocol"], ["defence_label", "Defence"],
    ["method_label", "Method"]];
  const sampleOf = (id) => samples.find((sample) => sample.row === id);
  let current = sampleOf(view.get("messages")) ?? sampleOf(data.strongest) ?? samples[0];
  let kind = "all", everything = false;

  // The sample nearest to the present one that has the newly chosen value.
  function choose(facet, value) {
    const now = rowOf.get(current.row);
    const likeness = (sample) => {
      const row = rowOf.get(sample.row);
      return facets.reduce((sum, [name]) => sum + (row[name] === (name === facet ? value : now[name])), 0);
    };
    const able = samples.filter((sample) => rowOf.get(sample.row)[facet] === value);
    current = able.reduce((best, sample) => (likeness(sample) > likeness(best) ? sample : best));
    everything = false;
    remember({ messages: current.row });
    draw();
  }

  const controls = facets.map(([facet, label]) => {
    const values = unique(samples.map((sample) => rowOf.get(sample.row)[facet]));
    const made = selector(label, values.map((value) => [value, value]), "", (value) => choose(facet, value));
    byId("message-controls").append(made.label);
    return [facet, made.select];
  });
  byId("message-controls").append(selector("Show", [["all", "all"], ["exact", "exact ones"], ["rest", "the rest"]], "all",
    (value) => {
      kind = value;
      everything = false;
      draw();
    }).label);

  function draw() {
    const row = rowOf.get(current.row);
    for (const [facet, select] of controls) select.value = row[facet];
    const pairs = current.pairs.filter((pair) => kind === "all" || Boolean(pair[2]) === (kind === "exact"));
    const shown = everything ? pairs : pairs.slice(0, firstShown);
    const exact = row.scores.exact === null ? null : Math.round(row.scores.exact * row.truth);
    byId("message-summary").replaceChildren(
      element("strong", {}, exact === null ? "–" : `${exact} of ${row.truth}`),
      ` messages word for word; ${row.recovered} recovered` +
      (row.certified ? "; certified by the attacker, without the truth." : ".") +
      (current.pairs.length < current.total ? ` This page holds the first ${current.pairs.length} of ${current.total} pairs.` : ""));
    const head = ["True message", "Recovered", "Agreement"].map((name, column) =>
      element("th", { scope: "col", role: "columnheader", class: column === 2 ? "state" : null }, name));
    const table = element("table", { class: "pairs", role: "table" },
      element("caption", { class: "hidden" }, `True and recovered messages: ${row.client_label}, ${row.protocol_label}, ` +
        `defence ${row.defence_label}, method ${row.method_label}`),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...head)),
      element("tbody", { role: "rowgroup" }, ...shown.map(pairRow)));
    table.dataset.row = current.row;
    byId("messages").replaceChildren(table);
    if (shown.length < pairs.length) {
      const more = element("button", { type: "button", class: "more" }, `Show all ${pairs.length}`);
      more.addEventListener("click", () => {
        everything = true;
        draw();
      });
      byId("messages").append(more);
    }
  }
  draw();
}

// The recovered messages, faint, under the verdict: what the leaf still shows of the writing that was erased.
function showUndertext() {
  const sample = data.samples.find((candidate) => candidate.row === data.strongest) ?? data.samples[0];
  if (!sample) return;
  const texts = sample.pairs.filter((pair) => pair[1] !== null).map((pair) => visible(data.texts[pair[1]]));
  // Decoration, all in one direction: no text may turn those after it round.
  const line = texts.join("  ·  ").replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
  if (line !== "") byId("undertext").textContent = `${line}  ·  `.repeat(Math.ceil(9000 / line.length)).slice(0, 9000);
}
