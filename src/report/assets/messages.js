// The audit's sample messages, one attacked client at a time.

const rowOf = new Map(data.rows.map((row) => [row.id, row]));

function showMessages() {
  const samples = data.samples.filter((sample) => sample.pairs.length > 0);
  if (samples.length === 0) {
    byId("messages").append(element("p", { class: "nothing" }, "These results hold no sample messages."));
    return;
  }
  const sampleOf = (id) => samples.find((sample) => sample.row === id);
  const first = sampleOf(view.get("messages")) ?? sampleOf(data.strongest) ?? samples[0];
  const facets = [["Client", "client_label"], ["Protocol", "protocol_label"], ["Defence", "defence_label"],
    ...(data.threat_models.length > 1 ? [["Who reads", "threat_model"]] : []), ["Method", "method_label"]].map(([label, name]) => [label, (sample) => rowOf.get(sample.row)[name]]);

  pairChooser(byId("message-controls"), samples, facets, first, (sample, wanted) => {
    const row = rowOf.get(sample.row);
    if (sample !== first || view.has("messages")) remember({ messages: sample.row });
    const exact = row.scores.exact === null ? null : Math.round(row.scores.exact * row.truth);
    byId("message-summary").replaceChildren(
      element("strong", {}, exact === null ? "–" : `${exact} of ${row.truth}`),
      data.unit === "sequence"
        ? ` sequences whole, ${fraction(row.scores.total_accuracy)} of the tokens in their place; ${row.recovered} recovered`
        : data.unit === "record" ? " records by the first guess, each with its owner"
        : ` messages word for word; ${row.recovered} recovered`,
      (row.certified ? "; certified by the attacker, without the truth." : ".") +
      (sample.pairs.length < sample.total ? ` This page holds the first ${sample.pairs.length} of ${sample.total} pairs.` : ""));
    const table = showPairs(byId("messages"), sample.pairs.filter(wanted), `True and recovered messages: ${row.client_label}, ` +
      `${row.protocol_label}, defence ${row.defence_label}, method ${row.method_label}`);
    table.dataset.row = sample.row;
  });
}
