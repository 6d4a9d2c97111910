// Short ways to what is on the page.
export const element = (id) => document.getElementById(id);
export const rounded = (value, digits) => (value === null || !Number.isFinite(value) ? "–" : value.toFixed(digits));

/** A list item of texts, elements, and [tag, text, class] for those still to be made. */
export function item(...parts) {
  const found = document.createElement("li");
  for (const part of parts) {
    if (!Array.isArray(part)) found.append(part);
    else found.append(Object.assign(document.createElement(part[0]), { textContent: part[1], className: part[2] ?? "" }));
  }
  return found;
}
