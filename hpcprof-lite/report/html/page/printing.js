/* What a printed page needs: light colours, all tabs, and drawings and tables as wide as the paper, while the browser
 * prints.  page.css has the rest. */

const lookListeners = [];

/* Whether the page is being printed. */
export function isPrinting() {
  return "print" in document.documentElement.dataset;
}

/* Calls a function whenever drawings need other colours or sizes at once: another colour scheme, begin and end of
 * printing. */
export function onLook(listener) {
  lookListeners.push(listener);
}

function look() {
  lookListeners.forEach((listener) => listener());
}

/* Begins or ends printing; the browser prints as soon as this returns. */
function setPrinting(printing) {
  if (printing)
    document.documentElement.dataset.print = "true";
  else
    delete document.documentElement.dataset.print;
  look();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", look);
addEventListener("beforeprint", () => setPrinting(true));
addEventListener("afterprint", () => setPrinting(false));
