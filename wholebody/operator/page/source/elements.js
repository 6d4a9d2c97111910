// Short ways to what is on the page.
export const element = (id) => document.getElementById(id);
/** A number with so many digits, never −0; a dash where there is none. */
export const rounded = (value, digits) => (value === null || !Number.isFinite(value) ? "–" : value.toFixed(digits).replace(/^-(?=[0.]+$)/, ""));

/** An element with properties and with what is in it; role and aria… are attributes where a browser has no such property. */
export function made(tag, properties = {}, ...inside) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "role") found.setAttribute("role", value);
    else if (name.startsWith("aria")) found.setAttribute(`aria-${name.slice(4).toLowerCase()}`, value);
    else found[name] = value;
  }
  found.append(...inside);
  return found;
}

/** Enables a button, or says why it is not: to who points at it or hears it, and when it is pressed all the same. */
export function allow(button, reason = "") {
  if (button.title === reason && button.hasAttribute("aria-disabled") === Boolean(reason)) return;
  button.title = reason;
  if (reason) button.setAttribute("aria-disabled", "true");
  else button.removeAttribute("aria-disabled");
}

/** Has presses of buttons that are not enabled told, and nothing else done. */
export function explain(tell) {
  const guard = (event) => {
    const button = event.target.closest?.("[aria-disabled=true]");
    if (!button) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    tell(button.title);
  };
  document.addEventListener("click", guard, true);
}

/** A list item of texts, elements, and [tag, text, class] for those still to be made. */
export function item(...parts) {
  const found = document.createElement("li");
  for (const part of parts) {
    if (!Array.isArray(part)) found.append(part);
    else found.append(Object.assign(document.createElement(part[0]), { textContent: part[1], className: part[2] ?? "" }));
  }
  return found;
}

/** Shows a picture; until it is loaded, or was found broken, its address stays and the one before is seen. */
export async function loaded(image, blob) {
  const address = URL.createObjectURL(blob);
  await new Promise((done) => Object.assign(image, { onload: done, onerror: done, src: address }));
  URL.revokeObjectURL(address);
}
