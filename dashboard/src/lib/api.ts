// Requests of the page: typed by the description of the API, with problems (RFC 9457) as errors.
import { signal } from "@preact/signals";
import type { Calls, Session } from "./api_types";
import type { Rule } from "./rules";

export type * from "./api_types";

/** The user of this page: undefined until known, null if a login is needed. */
export const session = signal<Session | null | undefined>(undefined);

/** When the server answered last, and whether it did the last time it was asked. */
export const lastAnswer = signal<{ at: number; ok: boolean }>({ at: 0, ok: true });

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly field: string | null,
    readonly state: string | null = null,
    readonly rule: Rule | null = null,
  ) {
    super(detail);
  }
}

type Input<K extends keyof Calls> = Partial<Pick<Calls[K], "path" | "query" | "body">>;

/** A path with its parameters. */
export const filledPath = (template: string, values: object): string => {
  const given = new Map(Object.entries(values));
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given.get(name))));
};

/** The method and path of a call, as sent. */
function address<K extends keyof Calls>(name: K, input: Input<K>): { method: string; path: string } {
  const [method = "", template = ""] = name.split(" ");
  const path = filledPath(template, input.path ?? {});
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(input.query ?? {})) {
    if (value === undefined || value === null || value === "") continue;
    query.set(key, Array.isArray(value) ? value.join(",") : String(value));
  }
  const text = query.toString();
  return { method, path: text ? `${path}?${text}` : path };
}

/** Send a request; `left` cancels it. */
export async function call<K extends keyof Calls>(
  name: K,
  input: Input<K> = {},
  left?: AbortSignal,
): Promise<Calls[K]["result"]> {
  const { method, path } = address(name, input);
  const init: RequestInit = { method, headers: {}, signal: left ?? null };
  if (input.body !== undefined) {
    init.headers = { "Content-Type": "application/json" };
    init.body = JSON.stringify(input.body);
  }
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, init);
    text = await response.text();
  } catch (error) {
    if (left?.aborted) throw error;
    lastAnswer.value = { ...lastAnswer.value, ok: false };
    throw new Problem(0, "unreachable", "", null);
  }
  lastAnswer.value = { at: Date.now(), ok: response.status !== 502 && response.status !== 504 };
  // biome-ignore lint/plugin: answers have the types of the description that `Calls` is generated from
  if (response.ok) return (text ? JSON.parse(text) : undefined) as Calls[K]["result"];
  if (response.status === 401 && path !== "/api/session") session.value = null;
  throw problemOf(response.status, text);
}

export function problemOf(status: number, text: string): Problem {
  try {
    const body: {
      code: string;
      detail: string;
      field: string | null;
      state?: string;
      rule?: Rule;
    } = JSON.parse(text);
    return new Problem(status, body.code, body.detail, body.field, body.state ?? null, body.rule ?? null);
  } catch {
    return new Problem(status, "unknown", text.slice(0, 200), null);
  }
}

/** A command line that sends the same request. The token is named, never shown. */
export function curl<K extends keyof Calls>(name: K, input: Input<K> = {}): string {
  const { method, path } = address(name, input);
  const parts = ["curl", "-X", method, `-H "Authorization: Bearer $HANBEON_TOKEN"`];
  if (input.body !== undefined) {
    parts.push(`-H "Content-Type: application/json"`, "-d", `'${JSON.stringify(input.body).replaceAll("'", "'\\''")}'`);
  }
  return [...parts, `"${location.origin}${path}"`].join(" ");
}

export const isAdmin = (): boolean => session.value?.scope === "admin";

export async function whoAmI(): Promise<void> {
  try {
    session.value = await call("GET /api/session");
  } catch (error) {
    if (error instanceof Problem && (error.status === 401 || error.status === 403)) session.value = null;
    else throw error;
  }
}
