/* Buttons that copy what is shown as plain text, for mails and issue trackers. */
import { element } from "./dom.js";

const COPIED_MS = 1500; /* how long the button says so */

/* Copies a text; where the clipboard is not to be had, by way of a selection.  Resolves to whether it was. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { class: "copy-area", "aria-hidden": "true" }, text);
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

/* A button that copies what text() returns. */
export function copyButton(text) {
  const title = "Copy as text";
  return element("button", {
    class: "copy",
    type: "button",
    onclick: async ({ currentTarget }) => {
      currentTarget.textContent = (await copyText(text())) ? "Copied" : "The browser does not allow it";
      setTimeout(() => { currentTarget.textContent = title; }, COPIED_MS);
    },
  }, title);
}

/* Lines of cells, numbers to the right, as wide as the longest cell of their column; the first one has the titles. */
export function alignedText(titles, numeric, lines) {
  const all = [titles, ...lines], widths = titles.map((_, at) => Math.max(...all.map((line) => line[at].length)));
  return all.map((line) => line.map((cell, at) =>
    numeric[at] ? cell.padStart(widths[at]) : cell.padEnd(widths[at])).join("  ").trimEnd()).join("\n") + "\n";
}
