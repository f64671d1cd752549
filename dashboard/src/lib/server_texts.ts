// Sentences of the server: its own text in English; in Korean by code, with the values that the answer has.
import type { DeadLetter, EngineAttempt, ExplanationReason, Moved, PreviewedFire, Problem } from "./api";
import { duration, queueName } from "./format";
import { language } from "./preferences";
import { ruleText } from "./rules";
import korean from "./server_texts.json";
import { isText, type Text, t } from "./texts";

type Values = Record<string, unknown>;
/** States by the names that surfaces have for them. */
const STATES: Record<string, Text> = { done: "succeeded", success: "succeeded", queued: "ready", blocked: "pending" };
type Kind = keyof typeof korean;

/** The Korean text of a code, or undefined: English, or a code of a newer server. */
function translated(kind: Kind, key: string, values: Values): string | undefined {
  if (language.value !== "ko") return undefined;
  // biome-ignore lint/plugin: codes of a newer server are looked up, too
  const text = (korean[kind] as Record<string, string>)[key];
  return text?.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? "–"));
}

const stateWord = (state: string | null | undefined): string => {
  const key = (state ?? "").toLowerCase();
  const name = STATES[key] ?? key;
  return isText(name) ? t(name) : key;
};

/** Which of the sentences of its code a reason has. */
function variantOf(reason: ExplanationReason): string {
  const { code } = reason;
  if (code === "finished") {
    const ended = reason.replaced_by
      ? ".replaced"
      : reason.blocked_by?.length
        ? ".blocked"
        : reason.failure_type
          ? ".failed"
          : reason.marked_done_by === undefined
            ? ""
            : reason.marked_done_by
              ? ".marked_done"
              : ".marked_done_program";
    return code + ended;
  }
  if (code === "stopping" && reason.overdue) return `${code}.overdue`;
  if (code === "event_loop_blocked" && !reason.job) return `${code}.unknown`;
  if (code === "dispatched" && reason.sent) return `${code}.sent`;
  if (code === "no_handler" && reason.role) return `${code}.role`;
  return code;
}

/** Why a job does not run. */
export function reasonText(reason: ExplanationReason): string {
  const values: Values = {
    ...reason,
    status: stateWord(reason.status),
    queue: reason.queue === undefined ? "오피스" : `큐 ‘${queueName(reason.queue)}’`,
    run_at: duration(reason.run_at ? Math.max(0, (Date.parse(reason.run_at) - Date.now()) / 1000) : null),
    blocked_by: reason.blocked_by?.join(", "),
    waits_for: reason.waits_for?.join(", "),
    holders: reason.holders?.join(", "),
  };
  return translated("explanation", variantOf(reason), values) ?? reason.text;
}

/** What happened to a job at a moment of its timeline. */
export function momentText(moment: Moved, queue: string, attempts: EngineAttempt[]): string {
  const { attempt, type } = moment;
  const found = attempts.find((each) => each.attempt === attempt);
  const why = found?.failure_type
    ? ` (${found.failure_type})${found.error_message ? `: ${found.error_message}` : ""}`
    : "";
  const by = moment.user ? `${moment.user} 님이 ` : "";
  const said = moment.comment ? `: ${moment.comment}` : "";
  const of = attempt !== null && (type === "failed" || type === "cancelled") ? ".attempt" : "";
  const key = type + (moment.changes?.args ? ".args" : of);
  return translated("moment", key, { attempt, queue: queueName(queue), why, by, said }) ?? moment.text;
}

/** Why a message could not be used. */
export function letterText(letter: DeadLetter): string {
  const { code, field } = letter;
  const value = field === null ? undefined : JSON.stringify(letter.payload[field] ?? "");
  return translated("dead_letter", field === null ? code : `${code}.field`, { ...letter, value }) ?? letter.reason;
}

/** The effect of a clock change on a fire. */
export function noteText(fire: PreviewedFire): string {
  if (!fire.note_kind || !fire.wall) return fire.note ?? "";
  const [date = "", wall = ""] = fire.wall.split("T");
  return (
    translated("note", fire.note_kind, { date, wall: wall.slice(0, 5), at: fire.at.slice(11, 16) }) ?? fire.note ?? ""
  );
}

/** The phase of an export; workers of others have phases of their own. */
export const phaseText = (phase: string): string => translated("phase", phase, {}) ?? phase;

/** Why a request was refused. */
export function problemText(problem: Problem): string {
  if (language.value !== "ko") return problem.detail;
  const said = problem.rule && ruleText(problem.rule);
  const detail = said ? (problem.field ? `${problem.field}: ${said}` : said) : problem.detail;
  return translated("problem", problem.code, { detail, state: stateWord(problem.state) }) ?? detail;
}
