// Values of variables as texts of a form.
/** A value as an editable text: strings as they are, unless that would be read as something else. */
export function shownValue(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" && typeof readValue(value) === "string" && !value.startsWith('"')
    ? value
    : JSON.stringify(value);
}

/** A text as a value: JSON if it is that, else the text. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
