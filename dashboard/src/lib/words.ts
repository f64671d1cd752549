// Texts of one page, beside the page: a key that one language lacks does not compile.
import { language } from "./preferences";

export function words<K extends string>(
  en: Record<K, string>,
  ko: Record<NoInfer<K>, string>,
): (key: K, ...values: (string | number)[]) => string {
  const both = { en, ko };
  return (key, ...values) => filled(both[language.value][key], values);
}

/** A text with its values: `{0}` is the first one, `{0|is|are}` a word for one and for any other number of it. */
export const filled = (text: string, values: (string | number)[]): string =>
  text.replace(/\{(\d)(?:\|([^|}]*)\|([^|}]*))?\}/g, (_, place: string, one?: string, many?: string) => {
    const value = String(values[Number(place)] ?? "");
    return one === undefined ? value : value === "1" ? one : (many ?? "");
  });
