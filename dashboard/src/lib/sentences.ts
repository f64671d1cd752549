// Sentences of the server by their form: a pattern, and the Korean text with its groups as $1, $2 and so on.

/** Where a text of its own depends on the groups, a function of them; undefined if a part of it is not known. */
export type Sentence = [RegExp, string | ((...groups: string[]) => string | undefined)];

/** The text of the first sentence that fits; undefined if there is none. A text that is inserted is not read again. */
export function translated(sentences: Sentence[], text: string): string | undefined {
  for (const [pattern, korean] of sentences) {
    const found = pattern.exec(text);
    if (!found) continue;
    const groups = found.slice(1).map((each) => each ?? "");
    const made =
      typeof korean === "string"
        ? korean.replace(/\$(\d)/g, (_, group: string) => groups[Number(group) - 1] ?? "")
        : korean(...groups);
    if (made !== undefined) return made;
  }
  return undefined;
}
