// The page from top to bottom.

function showFindings() {
  byId("verdict").textContent = typeset(data.verdict);
  byId("kind").textContent = `audit of the ${visible(data.preset)} preset`;
  document.title = `undertext: ${typeset(data.verdict)}`;
  byId("lead").append(...data.lead.map((sentence) => element("p", {}, typeset(sentence))));
  byId("figures").append(...data.figures.map((figure) => element("div", {},
    element("dt", {}, visible(figure.label)),
    element("dd", { class: "value" }, visible(figure.value)),
    element("dd", { class: "note" }, visible(figure.note)))));
}

function showThreatModels() {
  byId("threats").append(...data.threat_models.map((threat) => element("article", { class: "threat" },
    element("h3", {}, visible(threat.name)),
    element("dl", {}, definition("sees", threat.sees), definition("does not see", threat.does_not_see),
      definition("does", threat.does)))));
}

// What client size and local training do by themselves.
function showAdvice() {
  if (data.advice.length === 0) return;
  byId("advice").append(element("h3", {}, "What happens by itself"), element("div", { class: "advice" }, ...data.advice.map((entry) => {
    const [kind, label] = gradeOf[entry.grade];
    return element("article", { class: kind }, element("h4", {}, visible(entry.title)),
      element("p", { class: "grade" }, label),
      element("dl", {}, ...entry.facts.map(([term, text]) => definition(term, text))));
  })));
}

function showRun() {
  byId("command").textContent = visible(data.command);
  byId("version").textContent = visible(data.version);
  const model = data.model;
  const facts = [
    ["Seed", data.seed],
    ["Version", data.version],
    ["Model", `${model.kind}, ${model.source}`],
    ["Parameters", model.parameters.toLocaleString("en")],
    ["Vocabulary", `${model.vocabulary.toLocaleString("en")} ${data.unit === "message" ? "words" : data.unit === "record" ? "characters" : "tokens"}`],
    ["Perplexity of the model", perplexity(model.perplexity)],
    ["Time", `${data.seconds.toFixed(1)} s`],
  ];
  byId("run").append(...facts.map(([term, text]) => definition(term, text)));
}

// The strongest case under the verdict.
function showErased() {
  const sample = data.samples.find((candidate) => candidate.row === data.strongest) ?? data.samples[0];
  if (sample) showUndertext(sample.pairs);
}

// What is said of messages alone, of sequences alone, or of records alone.
function keepOneUnit() {
  for (const part of document.querySelectorAll("[data-unit]")) if (!part.dataset.unit.split(" ").includes(data.unit)) part.remove();
}

for (const show of [keepOneUnit, showFindings, showErased, showThreatModels, showMessages, showDefences, showAdvice, showTable, showRun, showCharts])
  show();
document.documentElement.dataset.ready = "true";
