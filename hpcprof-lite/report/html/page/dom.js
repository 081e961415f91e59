/* Elements of the page.  All text is set as text, never parsed as markup: names in a measurement can be anything. */

/* Makes an element with attributes and children, which are elements or text; null children are left out.  An attribute
 * whose name begins with "on" is a listener; one that is false or null is left out. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on"))
      made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false && value !== undefined)
      made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/* The same for SVG. */
export function svgElement(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes))
    made.setAttribute(key, value);
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/* Replaces all children of an element. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
}

/* The value of a custom property of the style sheet, such as the colour of a category in the present colour scheme. */
export function styleValue(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/* A file without its directories. */
export function fileName(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

/* The text with a capital letter at its begin. */
export function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
