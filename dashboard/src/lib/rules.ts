// Rules that refused requests broke, in Korean, from the texts that the server renders in English.
import table from "hanbeon:rules";

export type Value = string | number | boolean | null | Rule | Value[];
export type Rule = { code: string } & { [name: string]: Value };
type Values = { [name: string]: Value };

const OPTIONAL = /\[\[(?:!([a-z_]+)\|)?(.*?)\]\]/gs;
const VALUE = /\{([a-z_]+)(?::([^{}|]+)|\|([^{}]*))?\}/g;
/** Digits whose Korean names end in a consonant, and those that end in ㄹ. */
const CLOSED_DIGITS = "013678";
const RIEUL_DIGITS = "178";
const RIEUL = 8;
/** After letters of other scripts, whose sound is not known; of other particles both forms are written. */
const UNKNOWN: Record<string, string> = { "이어야/여야": "이어야", "으로/로": "(으)로" };

/** A text with its values: `src/hanbeon/rule.py` says how they are written. `{name:은/는}` adds a particle. */
export function rendered(text: string, values: Values): string {
  const whole = text.replace(OPTIONAL, (_, without: string | undefined, part: string) => {
    const isThere =
      without === undefined
        ? [...part.matchAll(VALUE)].every(([, name = ""]) => isGiven(values[name]))
        : !isGiven(values[without]);
    return isThere ? part : "";
  });
  return whole.replace(VALUE, (_, name: string, format?: string, separator = ", ") => {
    const value = values[name] ?? "";
    if (format === "," && typeof value === "number") return value.toLocaleString("en");
    const said = Array.isArray(value) ? value.map(shown).join(separator) : shown(value);
    return format === undefined || format === "," ? said : said + particle(said, format);
  });
}

const isGiven = (value: Value | undefined): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

const shown = (value: Value): string =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (ruleText(value) ?? "") : String(value);

/** The form of a particle, or of a verb's ending, that follows a text: the first one follows a consonant. */
export function particle(text: string, forms: string): string {
  const [closed = "", open = ""] = forms.split("/");
  const last = text.replace(/[^\p{L}\p{N}]+$/u, "").at(-1) ?? "";
  const final = last >= "가" && last <= "힣" ? (last.charCodeAt(0) - 0xac00) % 28 : undefined;
  const isDigit = last >= "0" && last <= "9";
  if (final === undefined && !isDigit) return UNKNOWN[forms] ?? `${closed}(${open})`;
  // ㄹ counts as a vowel before 로.
  if (open === "로" && (final === RIEUL || RIEUL_DIGITS.includes(last))) return open;
  return (final === undefined ? CLOSED_DIGITS.includes(last) : final !== 0) ? closed : open;
}

/** A rule in Korean; undefined for a code of a newer server. */
export function ruleText(rule: Rule): string | undefined {
  const text = table[rule.code];
  return text && rendered(text, rule);
}
