/* Starts the page: the head, the tabs, and the tab that the address asks for.  All tabs are drawn at once, so that the
 * browser finds their text; only the chosen one is shown. */
import { element, fill } from "./dom.js";
import { changeState, onState, stateValue } from "./page_state.js";
import { loadTable } from "./table_data.js";
import { drawSummary, hasOpenmp, summaryItems, threadsInUse } from "./summary_tab.js";
import { drawContexts } from "./contexts/contexts_tab.js";
import { drawParallelism } from "./parallelism_tab.js";
import { drawConstructs } from "./constructs_tab.js";
import { drawTimeline } from "./timeline/timeline_tab.js";
import { RangeNotice } from "./timeline/range_notice.js";
import { drawGrains } from "./grains/grains_tab.js";
import { drawRuns, hasSeveralRuns } from "./runs_tab.js";
import { formatCount, formatSeconds } from "./number_format.js";

const tabs = [
  { name: "summary", title: "Summary", draw: drawSummary },
  { name: "contexts", title: "Calling contexts", draw: drawContexts },
  { name: "timeline", title: "Timeline", draw: drawTimeline },
  { name: "parallelism", title: "Parallelism", draw: drawParallelism },
  { name: "constructs", title: "Constructs", draw: drawConstructs },
  { name: "grains", title: "Grains", draw: drawGrains },
  { name: "runs", title: "Runs", draw: drawRuns, when: hasSeveralRuns },
].filter((tab) => !tab.when || tab.when());

function chosenTab() {
  return tabs.find((tab) => tab.name === stateValue("tab")) ?? tabs[0];
}

function showTab() {
  const chosen = chosenTab();
  for (const tab of tabs) {
    tab.panel.hidden = tab !== chosen;
    tab.button.setAttribute("aria-selected", String(tab === chosen));
    tab.button.tabIndex = tab === chosen ? 0 : -1;
  }
}

function tabKey(event) {
  const at = tabs.indexOf(chosenTab()), steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
  if (!(event.key in steps))
    return;
  const next = tabs[(steps[event.key] + tabs.length) % tabs.length];
  changeState({ tab: next.name });
  next.button.focus();
  event.preventDefault();
}

async function drawTab(tab) {
  try {
    await tab.draw(tab.panel);
  } catch (error) {
    fill(tab.panel, element("p", { class: "notice", role: "alert" }, `This tab cannot be shown: ${error.message}`));
    console.error(error);
  }
}

async function startPage() {
  for (const tab of tabs) {
    tab.button = element("button", { role: "tab", id: "tab-" + tab.name, "aria-controls": "panel-" + tab.name,
      onclick: () => changeState({ tab: tab.name }) }, tab.title);
    tab.panel = element("main", { role: "tabpanel", id: "panel-" + tab.name, "aria-labelledby": "tab-" + tab.name, tabindex: "-1", "data-title": tab.title });
  }
  const subtitle = element("p", { class: "subtitle" }), filtered = element("p", { class: "notice page-notice", id: "filtered", hidden: true }),
    pauses = element("p", { class: "notice page-notice", id: "pauses", hidden: true }),
    unreliable = element("p", { class: "notice page-notice", id: "unreliable", hidden: true }), notice = new RangeNotice(() => chosenTab().name);
  fill(document.getElementById("page"),
    element("header", {}, element("h1", {}, document.title), subtitle,
      element("nav", { role: "tablist", "aria-label": "Views", onkeydown: tabKey }, tabs.map((tab) => tab.button))),
    unreliable, filtered, pauses, notice.element, tabs.map((tab) => tab.panel));
  onState("tab", showTab);
  showTab();
  const summary = await loadTable("summary");
  if (summary) {
    const items = summaryItems(summary), filter = items.text("run", "filtered");
    filtered.hidden = !filter;
    fill(filtered, "Filtered: " + filter);
    const reasons = items.rows("cores").filter((row) => row.item === "unreliable").map((row) => row.value);
    unreliable.hidden = !reasons.length;
    fill(unreliable, reasons.map((reason) => `Unreliable: ${reason}. `));
    const paused = items.text("run", "paused"), unsampled = items.text("run", "not sampled");
    pauses.hidden = !paused && !unsampled;
    fill(pauses, [paused ? `Measuring was paused for ${paused}: times and shares are those of the measured time.` : "",
      unsampled ? `No samples were taken for ${unsampled}, as the level was summary.` : ""].join(" "));
    const count = threadsInUse(items), processes = items.number("run", "processes");
    const threads = `${count} thread${count === 1 ? "" : "s"}`;
    fill(subtitle, [items.text("run", "hosts"), `${formatSeconds(items.number("run", "elapsed"))} elapsed`,
      processes <= 1 ? threads : `${formatCount(processes)} processes` +
        (hasOpenmp(items) ? ` with up to ${threads} each` : `, ${threads}`)].join(" \u00b7 "));
  }
  await Promise.all([...tabs.map(drawTab), notice.follow()]);
  document.documentElement.dataset.drawn = "true";
}

startPage();
