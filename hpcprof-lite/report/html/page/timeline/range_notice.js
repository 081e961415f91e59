/* The line above a tab that tells whether it shows the part of the run that is chosen in the timeline. */
import { element, fill } from "../dom.js";
import { changeState, onState, stateValue } from "../page_state.js";
import { showsRange } from "../contexts/contexts_tab.js";
import { chosenRange } from "./range_sums.js";
import { loadTrace } from "./trace_data.js";

/* Seconds with as many decimals as they need, at least two. */
function shortSeconds(ns) {
  return (ns / 1e9).toFixed(9).replace(/0{1,7}$/, "") + " s";
}

function rangeNotice(tab, part) {
  if (tab === "contexts" && showsRange())
    return `Only ${part}: times of contexts are sums over the timeline's intervals. ` +
      "Contexts come from samples: time in which none was taken is in no row. " +
      "Columns without \u201crange\u201d show the whole run.";
  if (tab === "contexts")
    return `This tree shows the whole run: only the top-down tree shows the part ${part} ` +
      "that is chosen in the timeline.";
  if (tab === "constructs")
    return `The first table shows only the part ${part} that is chosen in the timeline; all others show the whole run.`;
  return `This tab shows the whole run, not only the part ${part} that is chosen in the timeline.`;
}

export class RangeNotice {
  /* tab(): the name of the tab that is shown. */
  constructor(tab) {
    this.text = element("span");
    this.element = element("div", { class: "notice page-notice range-notice", role: "status", hidden: true }, this.text,
      element("button", { type: "button", onclick: () => changeState({ from: "", to: "" }) }, "Show the whole run"));
    for (const name of ["from", "to", "tab", "tree", "context"])
      onState(name, this.follow ??= () => this.#show(tab()));
  }

  async #show(tab) {
    const range = tab === "timeline" ? null : chosenRange(), trace = range ? await loadTrace() : null;
    this.element.hidden = !trace;
    if (!trace)
      return;
    const ends = range.to > trace.until && trace.leftOut ?
      ` This report has the timeline only until ${shortSeconds(trace.until)}.` : "";
    fill(this.text, rangeNotice(tab, `from ${shortSeconds(range.from)} to ${shortSeconds(range.to)}`) + ends);
  }
}
