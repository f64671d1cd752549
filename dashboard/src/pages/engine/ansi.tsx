// Colours of a terminal in a line of output. Everything else that a terminal would obey is left out.
import type { JSX } from "preact";

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const SEQUENCE = /\u001b\[([0-9;]*)([A-Za-z])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b./g;

export function pieces(text: string): { text: string; styles: string }[] {
  const found: { text: string; styles: string }[] = [];
  let [styles, from] = [new Set<string>(), 0];
  const add = (to: number): void => {
    if (to > from) found.push({ text: text.slice(from, to), styles: [...styles].join(" ") });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") styles = changed(styles, (match[1] ?? "").split(";").map(Number));
  }
  add(text.length);
  return found;
}

function changed(styles: Set<string>, codes: number[]): Set<string> {
  const next = new Set(styles);
  const colour = (name: string): void => {
    for (const each of next) if (each.startsWith("fg")) next.delete(each);
    if (name) next.add(name);
  };
  for (const code of codes) {
    if (code === 0) next.clear();
    else if (code === 1) next.add("bold");
    else if (code === 2) next.add("dim");
    else if (code === 4) next.add("underline");
    else if (code === 22) for (const each of ["bold", "dim"]) next.delete(each);
    else if (code === 24) next.delete("underline");
    else if (code >= 30 && code <= 37) colour(`fg${code - 30}`);
    else if (code >= 90 && code <= 97) colour(`fg${code - 90}`);
    else if (code === 39) colour("");
    else if (code === 38 || code === 48) break; // Palettes of 256 and more colours: shown plain.
  }
  return next;
}

export function Ansi({ text }: { text: string }): JSX.Element {
  return (
    <>
      {pieces(text).map((piece, index) => (
        <span key={index} class={piece.styles || undefined}>
          {piece.text}
        </span>
      ))}
    </>
  );
}
