// The page from top to bottom.

const experiments = data.experiments.map((raw, index) => new Experiment(raw, index));

function standing({ done, failed, pending }) {
  const all = done + failed + pending;
  return element("p", { class: "standing" },
    done === all ? `${plural(all, "cell")} done` : `${done} of ${plural(all, "cell")} done`,
    ...(failed > 0 ? [", ", element("strong", { class: "bad" }, `✗ ${failed} failed`)] : []),
    pending > 0 ? `, ${pending} pending.` : ".");
}

// What the page had to leave out to stay small.
function cutNotice() {
  const left = [];
  if (data.cut.samples) left.push("some sample messages");
  if (data.cut.words) left.push("some words");
  if (data.cut.texts) left.push("the ends of long texts");
  if (data.cut.cells) left.push("some cells, which its tables and plots do not count");
  if (experiments.length < data.all_experiments) left.push(plural(data.all_experiments - experiments.length, "whole experiment"));
  return left.length === 0 ? null : element("p", { class: "failed", id: "cut" },
    `To stay small, this page leaves out ${left.join("; ")}. The export has everything.`);
}

function showHeader() {
  const one = experiments.length === 1 && data.all_experiments === 1;
  const title = one ? typeset(experiments[0].title) : plural(data.all_experiments, "experiment");
  byId("title").textContent = title;
  byId("kind").textContent = one ? "experiment" : "experiments";
  document.title = `undertext: ${title}`;
  byId("lead").append(standing(data.counts), ...[cutNotice()].filter((part) => part));
  byId("version").textContent = visible(data.version);
  const sampled = experiments.find((experiment) => experiment.samples.length > 0);
  if (sampled) showUndertext(sampled.samples.flatMap((sample) => sample.pairs).slice(0, 60));
}

const stateOf = ({ failed, pending }) =>
  (failed > 0 ? `✗ ${failed} failed` : pending > 0 ? `${pending} pending` : "✓ done");

function showIndex(sections) {
  if (experiments.length < 2) {
    byId("index").remove();
    return;
  }
  const go = (index) => sections[index].scrollIntoView();
  byId("index").append(element("ol", {}, ...experiments.map((experiment, index) => {
    const address = new URLSearchParams({ at: experiment.name });
    const link = element("a", { href: `#${address}` }, typeset(experiment.title));
    link.addEventListener("click", (event) => {
      event.preventDefault();  // the address holds the filters too
      remember({ at: experiment.name });
      go(index);
    });
    return element("li", {}, link, element("span", { class: "source" }, typeset(experiment.source)),
      element("span", { class: experiment.counts.failed > 0 ? "state bad" : "state" }, stateOf(experiment.counts)));
  })));
  const at = experiments.findIndex((experiment) => experiment.name === view.get("at"));
  if (at >= 0) go(at);
}

// A section for the experiment; returns it with what draws its plots again.
function sectionOf(experiment) {
  const one = data.all_experiments === 1;
  const heading = `h-experiment-${experiment.number}`;
  const figures = experiment.plots.map((plot) => figureOf(experiment, plot));
  const form = element("form", { class: "controls filters", "aria-label": "Filter the plots and the table" });
  const table = groupTable(experiment);
  const section = element("section", { class: "experiment", "aria-labelledby": heading, "data-experiment": experiment.name },
    element("h2", { id: heading, class: one ? "quiet" : null }, typeset(experiment.title)),
    experiment.source === "" ? null : element("p", { class: "source" }, typeset(experiment.source)),
    experiment.says === "" ? null : element("blockquote", { class: "says" }, element("p", {}, typeset(experiment.says))),
    one ? null : standing(experiment.counts),
    experiment.cells.length > 0 && experiment.axes.length > 0 ? form : null,
    figures.length === 0 ? null : element("div", { class: "charts" }, ...figures.map((made) => made.figure)),
    experiment.cells.length === 0 ? element("p", { class: "nothing" }, "This page holds no cells of this experiment.") : table.part,
    readPart(experiment), failuresPart(experiment), runPart(experiment));
  byId("experiments").append(section);  // charts need a place with a size
  let cells = experiment.cells;
  const draw = () => {
    figures.forEach((made) => made.draw(cells));
    arrange(figures.map((made) => made.figure));
  };
  filterCells(experiment, form, (remaining) => {
    cells = remaining;
    table.draw(cells);
    if (document.documentElement.dataset.ready) draw();
  });
  return { section, draw };
}

showHeader();
const sections = experiments.map(sectionOf);
keepDrawn(() => sections.forEach((made) => made.draw()));
showIndex(sections.map((made) => made.section));
document.documentElement.dataset.ready = "true";
