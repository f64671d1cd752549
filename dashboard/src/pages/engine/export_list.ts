// The list of jobs that match a filter, as a file: JSON with all fields, or CSV for a spreadsheet.
import { type Calls, call, type EngineJob } from "../../lib/api";

export type ListKind = "json" | "csv";
type Query = Calls["GET /api/engine/jobs"]["query"];

const PAGE = 500;
const MOST = 50_000;
const COLUMNS = [
  "id",
  "state",
  "task",
  "queue",
  "role",
  "attempt",
  "created_at",
  "started_at",
  "finished_at",
  "failure_type",
  "error_message",
  "args",
  "result",
] as const satisfies (keyof EngineJob)[];

/** Ask for all that match, page by page, and save them; the number of jobs in the file. */
export async function exportList(filter: Query, kind: ListKind, progress: (found: number) => void): Promise<number> {
  const jobs: EngineJob[] = [];
  let cursor: string | undefined;
  do {
    const page = await call("GET /api/engine/jobs", { query: { ...filter, limit: PAGE, cursor } });
    jobs.push(...page.items);
    cursor = page.next_cursor ?? undefined;
    progress(jobs.length);
  } while (cursor !== undefined && jobs.length < MOST);
  const text = kind === "json" ? JSON.stringify(jobs, null, 1) : csv(jobs);
  save(text, `jobs.${kind}`, kind === "json" ? "application/json" : "text/csv");
  return jobs.length;
}

export function csv(jobs: EngineJob[]): string {
  const rows = jobs.map((job) => COLUMNS.map((name) => cell(job[name])).join(","));
  // The mark at the beginning tells spreadsheets that it is UTF-8.
  return `\ufeff${[COLUMNS.join(","), ...rows].join("\r\n")}\r\n`;
}

/** A cell. A text that a spreadsheet would take for a formula gets a quote before it. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

function save(text: string, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
