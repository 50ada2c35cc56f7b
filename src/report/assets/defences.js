// The defences: for each threat model the verdict, leak against utility, and a table in the order of choice.

const gradeOf = { protects: ["protects", "✓ protects"], weakens: ["weakens", "◐ weakens"], "does not help": ["fails", "✗ does not help"] };
const percent = (share) => (share > 0 && share < 0.005 ? "<1%" : share < 1 && share >= 0.995 ? "99%" : `${Math.round(share * 100)}%`);
const factor = (value) => (value === null ? "–" : `×${value.toFixed(1)}`);
const guarantee = (effect) => effect.epsilon === null ? "–"
  : `${effect.epsilon_text}${effect.delta === null ? "" : `, δ=${effect.delta.toExponential().replace("e-", "e−")}`}`;
const goalsOf = (threat) => [["read", threat.read_label], ...(threat.undefended.words === null ? [] : [["words", "words (F1)"]])];

function defenceColumns(threat) {
  const words = threat.effects.some((effect) => effect.words !== null);
  return [
    { key: "defence", name: "Defence, as it is typed", value: (effect) => effect.spec },
    { key: "grade", name: "Verdict", value: (effect) => Object.keys(gradeOf).indexOf(effect.read.grade),
      text: (effect) => gradeOf[effect.read.grade][1], tone: (effect) => gradeOf[effect.read.grade][0] },
    { key: "mean", name: "Read, mean", value: (effect) => effect.read.mean, text: (effect) => percent(effect.read.mean), number: true },
    { key: "worst", name: "Read, worst", value: (effect) => effect.read.worst, text: (effect) => percent(effect.read.worst), number: true, bar: true },
    ...(words ? [{ key: "words", name: "Words, worst (F1)", value: (effect) => effect.words?.worst ?? null,
      text: (effect) => (effect.words === null ? "–" : percent(effect.words.worst)), number: true, bar: true }] : []),
    { key: "rise", name: "Perplexity rises by", value: (effect) => effect.cost, text: (effect) => effect.rise, number: true },
    { key: "perplexity", name: "Perplexity", value: (effect) => effect.perplexity, text: (effect) => perplexity(effect.perplexity), number: true },
    { key: "epsilon", name: "ε", value: (effect) => effect.epsilon, text: guarantee, number: true },
    { key: "time", name: "Time", value: (effect) => effect.slowdown, text: (effect) => factor(effect.slowdown), number: true },
    { key: "told", name: "The attack was told", value: (effect) => (effect.adaptive ? effect.told : ""), prose: true,
      text: (effect) => (effect.adaptive ? effect.told : "nothing: not adaptive") },
  ];
}

function defenceRow(columns, effect) {
  return element("tr", { "data-spec": effect.spec }, ...columns.map((column, index) => {
    if (index === 0)
      return element("th", { scope: "row" }, element("code", {}, visible(effect.spec)),
        effect.adaptive ? null : element("span", { class: "method" }, " not adaptive"));
    const value = column.value(effect);
    const shown = visible(column.text ? column.text(effect) : value);
    const cell = element("td", { class: column.tone ? `graded ${column.tone(effect)}` : column.prose ? "prose" : null },
      shown);
    if (column.number) cell.classList.add("number");
    if (column.bar && value !== null) {
      cell.classList.add("bar");
      cell.style.setProperty("--share", value);
    }
    return cell;
  }));
}

const mostDefences = 15;

function defenceTable(threat, index) {
  const table = element("table", { class: "defences" });
  const columns = defenceColumns(threat);
  const scroll = element("div", { class: "scroll tall", role: "region", tabindex: "0",
    "aria-label": visible(`Defences against the ${threat.name}`) }, table);
  // In a box of its own, so that the button behind which the rest waits has a place.
  const box = element("div", {}, scroll);
  sortableTable(table, `Defences against the ${visible(threat.name)}, best choice first`, columns,
    (effect) => defenceRow(columns, effect), `d${index}-`, mostDefences)(threat.choice.map((place) => threat.effects[place]));
  return box;
}

function showDefences() {
  byId("protected").textContent = `${Math.round(data.protected * 100)}%`;
  byId("defences").append(...data.defences.threats.map((threat, index) => {
    const plotted = threat.effects.some((effect) => effect.cost !== null);
    return element("article", { class: "against" }, element("h3", {}, visible(threat.name)),
      element("p", { class: "headline" }, typeset(threat.sentences.join(" "))),
      plotted ? element("figure", { id: `chart-frontier-${index}`, class: "wide" },
        element("figcaption", {}, element("h4", {}, "What is read against what it costs"),
          element("p", {}, "A line for each defence, through its strengths; down is safer, left is cheaper. Large filled points are " +
            "the best of both: nothing tried is at least as good in leak and in cost. The dashed stair joins them.")),
        element("form", { class: "controls", "aria-label": "Which leak to draw" }),
        element("div", { class: "canvas tall-canvas" }, element("canvas", { role: "img",
          "aria-label": "Chart of leak against the rise of the perplexity, one line for each defence. The table below has its numbers." }))) : null,
      threat.effects.length ? defenceTable(threat, index) : null);
  }));
  showImpossible();
  showPrivacy();
}

// Reasons that several share are said once.
function showImpossible() {
  const entries = data.defences.impossible;
  if (entries.length === 0) return;
  const reasons = unique(entries.map((entry) => entry.why)).map((why) => {
    const own = entries.filter((entry) => entry.why === why);
    return [why, unique(own.map((entry) => entry.spec || entry.title)), unique(own.map((entry) => `${entry.threat_model}, ${entry.attack}`))];
  });
  byId("impossible").append(element("h3", {}, "What cannot be run, and why"),
    element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "What cannot be run, and why" },
      element("table", {}, element("thead", {}, element("tr", {},
        ...["Defence", "Against", "Why"].map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...reasons.map(([why, specs, against]) => element("tr", { class: "impossible" },
        element("td", {}, ...specs.flatMap((spec) => [element("code", {}, visible(spec)), element("br")]).slice(0, -1)),
        element("td", {}, visible(against.join("; "))), element("td", {}, typeset(why))))))));
}

function showPrivacy() {
  const entries = data.defences.privacy;
  if (entries.length === 0) return;
  byId("privacy").append(element("h3", {}, "What is promised"),
    element("dl", { class: "terms" }, ...entries.flatMap(({ spec, statement }) =>
      [element("dt", {}, element("code", {}, visible(spec))),
        element("dd", {}, element("pre", { tabindex: "0" }, statement.trim().split("\n").map(visible).join("\n")))])));
}

function frontierChart(threat, index) {
  const goals = goalsOf(threat);
  const key = `leak-${index}`;
  let goal = goals.some(([name]) => name === view.get(key)) ? view.get(key) : "read";
  const points = () => threat.effects.filter((effect) => effect.cost !== null && effect[goal] !== null)
    .map((effect) => ({ x: 1 + effect.cost, y: effect[goal].worst, effect, best: effect.best[goal] === true }));
  const start = () => ({ x: 1, y: threat.undefended[goal], effect: null, best: threat.undefended.best[goal] === true });
  const label = () => goals.find(([name]) => name === goal)[1];
  const lines = () => unique(points().map((point) => point.effect.title)).map((title) =>
    ({ title, points: points().filter((point) => point.effect.title === title) }));
  const far = () => Math.max(...points().map((point) => point.x)) > 4;
  const tick = (value) => {
    if (!far()) return `${value > 1.0001 ? "+" : value < 0.9999 ? "−" : ""}${Math.abs(Math.round((value - 1) * 1000) / 10)}%`;
    return /^[125]/.test(value.toExponential()) ? `×${Number(value.toPrecision(2))}` : "";
  };
  function line({ title, points: own }, place) {
    const colour = tone(`series-${place % 6 + 1}`);
    const several = (of) => own.map(of);
    return {
      label: visible(title),
      data: own,
      showLine: true,
      borderColor: colour,
      backgroundColor: colour,
      borderWidth: 1.5,
      borderDash: place < 6 ? [] : place < 12 ? [6, 4] : [2, 3],
      pointStyle: shapes[(place + Math.floor(place / 6)) % shapes.length],
      pointRadius: several((point) => (point.best ? 9 : 5)),
      pointHoverRadius: 11,
      pointBorderWidth: 2,
      pointBorderColor: several((point) => (point.best ? tone("ink") : colour)),
      pointBackgroundColor: several((point) => (point.best ? colour : tone("page"))),
      clip: false,
    };
  }
  function datasets() {
    const stair = [...(start().best ? [start()] : []), ...points().filter((point) => point.best)].sort((a, b) => a.x - b.x || b.y - a.y);
    return [
      { label: "no defence", data: [start()], pointStyle: "crossRot", pointRadius: 10, pointHoverRadius: 12, pointBorderWidth: 3,
        borderColor: tone("ink"), backgroundColor: tone("ink"), clip: false },
      ...lines().map(line),
      { label: "best of both", data: stair, showLine: true, stepped: "before", pointRadius: 0, pointHitRadius: 0, pointStyle: "line",
        borderColor: tone("soft"), backgroundColor: tone("soft"), borderWidth: 1.5, borderDash: [3, 4], clip: false },
    ];
  }
  function describe({ raw, dataset }) {
    if (raw.effect === null) return `${dataset.label}: ${percent(raw.y)} read, perplexity ${perplexity(threat.perplexity_before)}`;
    const effect = raw.effect;
    return [visible(effect.spec), `read at worst ${percent(effect[goal].worst)}, mean ${percent(effect[goal].mean)}`,
      `perplexity ${perplexity(effect.perplexity)} (${effect.rise})`,
      effect.epsilon === null ? "no guarantee" : `ε ${guarantee(effect)}`, ...(effect.adaptive ? [] : ["the attack was not adaptive"])];
  }
  return {
    figure: `chart-frontier-${index}`,
    controls: (redraw) => goals.length < 2 ? [] : [selector("What is read", goals, goal, (value) => {
      goal = value;
      remember({ [key]: value === "read" ? "" : value });
      redraw();
    }).label],
    table: () => plainTable(`Leak and cost: ${label()}`, ["Defence", "Read, worst", "Perplexity", "Rise", "ε", "Best of both"],
      [["no defence", percent(start().y), perplexity(threat.perplexity_before), "", "–", start().best ? "yes" : ""],
        ...points().map(({ effect, best }) => [visible(effect.label), percent(effect[goal].worst), perplexity(effect.perplexity), effect.rise,
          guarantee(effect), best ? "yes" : ""])], [1, 2, 3, 4]),
    config: () => ({
      type: "scatter",
      data: { datasets: datasets() },
      options: options({
        x: axis("rise of the perplexity", {
          type: far() ? "logarithmic" : "linear",
          ...(far() ? { min: Math.min(0.9, ...points().map((point) => point.x)) } : { suggestedMin: 0.99, suggestedMax: 1.02 }),
          ticks: { color: tone("soft"), callback: tick, maxRotation: 0, autoSkip: !far() },
        }),
        y: axis(`read: ${label()}, worst case`, { min: 0, max: 1, ticks: { color: tone("soft"), callback: (value) => percent(value) } }),
      }, { label: describe }),
    }),
  };
}

// A chart for each threat model against which defences with a known cost were tried.
const frontierCharts = () => data.defences.threats.map(frontierChart).filter((chart) => byId(chart.figure) !== null);
