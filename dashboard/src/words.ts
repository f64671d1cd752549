// Texts of one page, beside the page: a key that one language lacks does not compile.
import { language } from "./preferences";

export function words<K extends string>(
  en: Record<K, string>,
  ko: Record<NoInfer<K>, string>,
): (key: K, ...values: (string | number)[]) => string {
  const both = { en, ko };
  return (key, ...values) =>
    both[language.value][key].replace(/\{(\d)\}/g, (_, place: string) => String(values[Number(place)] ?? ""));
}
