// The search of jobs as one line of text: `state:failed task:fetch text`. The address keeps the fields themselves.
import type { JobFilter, State } from "../../lib/api";

export const STATES: State[] = ["pending", "ready", "running", "succeeded", "failed", "cancelled"];

type Name = Exclude<keyof JobFilter, "own">;
/** The words of the box and the fields that they stand for. */
export const KEYS = {
  state: "state",
  task: "task",
  queue: "queue",
  role: "role",
  key: "key",
  id: "id",
  failure: "failure_type",
  after: "created_after",
  before: "created_before",
} as const satisfies Record<string, Name>;
export type Key = keyof typeof KEYS;
export type Fields = Partial<Record<Name, string>>;

const isKey = (word: string): word is Key => Object.hasOwn(KEYS, word);
const KEY_NAMES = Object.keys(KEYS).filter(isKey);

const quote = (text: string): string => (/[\s"]/.test(text) ? `"${text.replaceAll('"', '\\"')}"` : text);
/** What is between spaces, or between quotes. */
const TOKEN = /(?:"(?:\\"|[^"])*"?|[^\s"])+/g;
const unquote = (text: string): string => text.replace(/(^|[^\\])"/g, "$1").replaceAll('\\"', '"');

/** The fields as the text of the box. */
export function textOf(fields: Fields): string {
  const tokens = KEY_NAMES.flatMap((key) => {
    const value = fields[KEYS[key]];
    return value ? [`${key}:${quote(value)}`] : [];
  });
  return [...tokens, ...(fields.text ? [fields.text] : [])].join(" ");
}

/** The fields that a text stands for, and the states that there are not. Other words are looked for in the arguments. */
export function fieldsOf(text: string): { fields: Fields; unknown: string[] } {
  const fields: Fields = {};
  const words: string[] = [];
  for (const token of text.match(TOKEN) ?? []) {
    const [, word = "", value = ""] = /^(\w+):(.*)$/s.exec(token) ?? [];
    if (isKey(word)) {
      if (value) fields[KEYS[word]] = unquote(value);
    } else words.push(unquote(token));
  }
  if (words.length) fields.text = words.join(" ");
  const given = (fields.state ?? "").split(",").filter(Boolean);
  return { fields, unknown: given.filter((each) => !STATES.some((state) => state === each)) };
}

/** Values that are known of some keys. */
export type Known = Partial<Record<Key, string[]>>;

const MOST = 8;

/** What the last word of a text may become: a key, or a value of its key. */
export function completions(text: string, known: Known): string[] {
  const last = /(\S*)$/.exec(text)?.[1] ?? "";
  const before = text.slice(0, text.length - last.length);
  const [, word = "", value] = /^(\w+):(.*)$/s.exec(last) ?? [];
  if (value === undefined) {
    return last === "" ? [] : KEY_NAMES.filter((key) => key.startsWith(last)).map((key) => `${before}${key}:`);
  }
  if (!isKey(word)) return [];
  const values = word === "state" ? STATES : (known[word] ?? []);
  return values
    .filter((each) => each !== value && each.toLowerCase().includes(value.toLowerCase()))
    .slice(0, MOST)
    .map((each) => `${before}${word}:${quote(each)} `);
}
