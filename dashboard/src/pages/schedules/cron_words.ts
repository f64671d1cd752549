// A cron expression in words, in the language of the page.
import cronstrue from "cronstrue";
import "cronstrue/locales/ko";
import { language } from "../../lib/preferences";
import { w } from "./texts";

/** The words, or nothing for an expression that they do not fit. Whether it is valid is the server's to say. */
export function cronWords(expression: string): string {
  const text = expression.trim();
  if (!text) return "";
  const options = { locale: language.value, use24HourTimeFormat: true };
  try {
    const short = cronstrue.toString(text, options);
    // "At 09:00" alone leaves open on which days.
    const found = /^\D*\d\d:\d\d(:\d\d)?$/.test(short)
      ? cronstrue.toString(text, { ...options, verbose: true })
      : short;
    return hasTwoKindsOfDays(text) ? w("either", found) : found;
  } catch {
    return "";
  }
}

/** Day of the month and weekday both restricted: the expression fires on either. */
function hasTwoKindsOfDays(text: string): boolean {
  const fields = text.split(/\s+/);
  const [day, , weekday] = fields.slice(fields.length === 6 ? 3 : 2);
  return [day, weekday].every((each) => each !== undefined && !/^[*?]/.test(each));
}
