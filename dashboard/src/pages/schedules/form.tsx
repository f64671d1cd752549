// Create or edit a schedule: its next fires and its words appear while one types.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { call, curl, type PreviewedFire, type Schedule, type ScheduleChange } from "../../lib/api";
import { clockThere, duration, exampleTime, installationZone, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { noteText } from "../../lib/server_texts";
import { Act, Copies, quoted } from "../../ui/act";
import { ArgumentFields, parsedArguments } from "../../ui/arguments";
import { EmptyUntil } from "../../ui/first_commands";
import { say, wordsOf } from "../../ui/parts";
import { cronWords } from "./cron_words";
import { w } from "./texts";

const PREVIEWED = 5;
const TYPING_MS = 200;

/** Fields as texts, as a form has them. */
interface Draft {
  task_id: string;
  name: string;
  kind: "cron" | "every" | "run_at";
  cron: string;
  every: string;
  run_at: string;
  timezone: string;
  args: string;
  overlap: string;
  misfire: string;
  misfire_limit: string;
  jitter: string;
  starts_at: string;
  ends_at: string;
  dst_gap: string;
  dst_fold: string;
  paused: boolean;
}

const draftOf = (given: Schedule | null): Draft => ({
  task_id: given?.task_id ?? "",
  name: given?.name ?? "",
  kind: given?.run_at ? "run_at" : given?.every ? "every" : "cron",
  cron: given?.cron ?? (given ? "" : "0 9 * * MON-FRI"),
  every: given?.every ? `${given.every}s` : "",
  run_at: given?.run_at ?? "",
  timezone: given?.timezone ?? "",
  args: JSON.stringify(given?.args ?? {}),
  overlap: given?.overlap ?? "skip",
  misfire: given?.misfire ?? "coalesce",
  misfire_limit: String(given?.misfire_limit ?? 100),
  jitter: String(given?.jitter ?? 0),
  starts_at: given?.starts_at ?? "",
  ends_at: given?.ends_at ?? "",
  dst_gap: given?.dst_gap ?? "",
  dst_fold: given?.dst_fold ?? "",
  paused: given?.paused ?? false,
});

type Fields = ScheduleChange & { task_id: string };

const pair = (value: string, text: string): [string, string] => [value, text];

function fieldsOf(draft: Draft): Fields {
  const text = (value: string): string | null => value.trim() || null;
  return {
    task_id: draft.task_id,
    name: text(draft.name),
    cron: draft.kind === "cron" ? text(draft.cron) : null,
    every: draft.kind === "every" ? text(draft.every) : null,
    run_at: draft.kind === "run_at" ? text(draft.run_at) : null,
    timezone: text(draft.timezone),
    args: JSON.parse(draft.args || "{}"),
    // biome-ignore lint/plugin: one of the choices of its field
    overlap: draft.overlap as Schedule["overlap"],
    // biome-ignore lint/plugin: one of the choices of its field
    misfire: draft.misfire as Schedule["misfire"],
    misfire_limit: Number(draft.misfire_limit),
    jitter: Number(draft.jitter),
    starts_at: text(draft.starts_at),
    ends_at: text(draft.ends_at),
    // biome-ignore lint/plugin: one of the choices of its field
    dst_gap: text(draft.dst_gap) as Schedule["dst_gap"],
    // biome-ignore lint/plugin: one of the choices of its field
    dst_fold: text(draft.dst_fold) as Schedule["dst_fold"],
  };
}

/** Only what differs: a field that is not sent stays as it is. */
function differences(fields: Fields, before: Fields): Partial<Fields> {
  const known = new Map<string, unknown>(Object.entries(before));
  const isChanged = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(known.get(name));
  return Object.fromEntries(Object.entries(fields).filter(isChanged));
}

/** The same as a command line. */
function optionsOf(fields: Partial<Fields>): string[] {
  const { args, task_id: _, paused, ...rest } = fields;
  const options = Object.entries(rest).map(([name, value]) =>
    value === null ? `--unset ${name}` : `--${name.replaceAll("_", "-")} ${quoted(String(value))}`,
  );
  if (paused) options.push("--paused");
  return args && Object.keys(args).length ? [quoted(JSON.stringify(args)), ...options] : options;
}

export function ScheduleForm({
  given,
  done,
  back,
}: {
  given: Schedule | null;
  done: (id: string) => void;
  back: () => void;
}): JSX.Element {
  const draft = useSignal(draftOf(given));
  const problem = useSignal("");
  const asked = useSignal(false);
  const isFaulty = useSignal(false);
  const edit = (change: Partial<Draft>): void => void (draft.value = { ...draft.value, ...change });
  const tasks = useLoaded((left) => call("GET /api/tasks", { query: { limit: 500 } }, left), "", 60_000, null);
  const shown = draft.value;
  const names = (tasks.data?.items ?? []).map((each) => each.task_id);
  if (!given && tasks.data && names.length === 0) return <EmptyUntil of="worker">{w("noTasks")}</EmptyUntil>;

  let fields: Partial<Fields> | null = null;
  try {
    const none = fieldsOf({ ...draftOf(null), cron: "" });
    fields = differences(fieldsOf(shown), given ? fieldsOf(draftOf(given)) : { ...none, task_id: "" });
    if (!given && shown.paused) fields.paused = true;
  } catch {
    /* said when it is sent */
  }
  const task = tasks.data?.items.find((each) => each.task_id === shown.task_id);
  const isReady = shown.task_id !== "" && shown[shown.kind].trim() !== "";
  const send = async (): Promise<void> => {
    problem.value = isReady ? "" : w("notReady");
    asked.value = true;
    if (!isReady || isFaulty.value) return;
    try {
      if (fields === null) fieldsOf(shown);
      const body = fields ?? {};
      if (given && Object.keys(body).length === 0) {
        say(w("noChange"));
        return back();
      }
      const made = given
        ? await call("PATCH /api/schedules/{id}", { path: { id: given.id }, body })
        : await call("POST /api/schedules", { body: { task_id: shown.task_id, ...body } });
      done(made.id);
    } catch (error) {
      problem.value = error instanceof SyntaxError ? `args: ${error.message}` : wordsOf(error);
    }
  };
  const field = (name: keyof Draft, label: string, more: Record<string, unknown> = {}): JSX.Element => (
    <label>
      <span>{label}</span>
      <input
        name={name}
        value={String(shown[name])}
        spellcheck={false}
        onInput={(event) => edit({ [name]: event.currentTarget.value })}
        {...more}
      />
    </label>
  );
  const choice = (name: keyof Draft, label: string, options: [string, string][]): JSX.Element => (
    <label>
      <span>{label}</span>
      <select name={name} value={String(shown[name])} onChange={(event) => edit({ [name]: event.currentTarget.value })}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <form
      class="scheduleform"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div>
        <div class="fields">
          {choice("task_id", w("task"), [
            ...(shown.task_id && names.includes(shown.task_id) ? [] : [pair(shown.task_id, shown.task_id || "–")]),
            ...names.map((each) => pair(each, each)),
          ])}
          {field("name", w("name"))}
        </div>
        <div class="segments" role="group" aria-label={w("kind")}>
          <button type="button" aria-pressed={shown.kind === "cron"} onClick={() => edit({ kind: "cron" })}>
            {w("recurring")}
          </button>
          <button type="button" aria-pressed={shown.kind === "every"} onClick={() => edit({ kind: "every" })}>
            {w("intervalKind")}
          </button>
          <button type="button" aria-pressed={shown.kind === "run_at"} onClick={() => edit({ kind: "run_at" })}>
            {w("onceKind")}
          </button>
        </div>
        <div class="fields when">
          {shown.kind === "cron"
            ? field("cron", w("cron"), { class: "cronfield" })
            : shown.kind === "every"
              ? field("every", w("every"), { placeholder: "90m" })
              : field("run_at", w("runAt"), { placeholder: exampleTime("2027-01-01T09:00:00") })}
          {field("timezone", w("timezone"), { placeholder: installationZone() })}
        </div>
        {shown.kind === "cron" && <p class="faint">{w("cronHint")}</p>}
        {shown.kind === "every" && <p class="faint">{w("everyHint")}</p>}
        <ArgumentFields
          key={`${shown.task_id} ${task !== undefined}`}
          schema={task?.parameters}
          given={parsedArguments(shown.args) ?? {}}
          change={(found) => {
            isFaulty.value = found === null;
            if (found) edit({ args: JSON.stringify(found) });
          }}
          asked={asked.value}
        />
        <details>
          <summary>{w("more")}</summary>
          <div class="fields">
            {choice("overlap", w("overlapRule"), [
              ["skip", w("overlapSkip")],
              ["allow", w("overlapAllow")],
              ["queue_one", w("overlapQueue")],
            ])}
            {choice("misfire", w("misfireRule"), [
              ["coalesce", w("misfireCoalesce")],
              ["skip", w("misfireSkip")],
              ["all", w("misfireAll")],
            ])}
            {shown.misfire === "all" && field("misfire_limit", w("misfireLimit"), { type: "number", min: 1 })}
            {field("jitter", w("jitter"), { type: "number", min: 0 })}
            {field("starts_at", w("startsAt"), { placeholder: exampleTime("2027-01-01T00:00:00") })}
            {field("ends_at", w("endsAt"), { placeholder: exampleTime("2027-12-31T00:00:00") })}
            {choice("dst_gap", w("gap"), [
              ["", w("byRule")],
              ["fire", w("gapFire")],
              ["skip", w("gapSkip")],
            ])}
            {choice("dst_fold", w("fold"), [
              ["", w("byRule")],
              ["first", w("foldFirst")],
              ["second", w("foldSecond")],
              ["both", w("foldBoth")],
            ])}
          </div>
        </details>
        {!given && (
          <label class="check">
            <input type="checkbox" checked={shown.paused} onChange={() => edit({ paused: !shown.paused })} />{" "}
            {w("startPaused")}
          </label>
        )}
        {problem.value && (
          <p class="failure" role="alert">
            {problem.value}
          </p>
        )}
        <div class="row">
          <Act kind="main" onClick={send}>
            {w(given ? "save" : "createIt")}
          </Act>
          <button type="button" class="btn plain" onClick={back}>
            {w("back")}
          </button>
          {fields && isReady && !isFaulty.value && (
            <Copies
              of={[
                given
                  ? {
                      name: w("save"),
                      curl: curl("PATCH /api/schedules/{id}", { path: { id: given.id }, body: fields }),
                      command: ["hanbeon schedule change", given.id, ...optionsOf(fields)].join(" "),
                    }
                  : {
                      name: w("createIt"),
                      curl: curl("POST /api/schedules", { body: { task_id: shown.task_id, ...fields } }),
                      command: ["hanbeon schedule create", quoted(shown.task_id), ...optionsOf(fields)].join(" "),
                    },
              ]}
            />
          )}
        </div>
      </div>
      <LivePreview draft={shown} />
    </form>
  );
}

/** Wait; rejects when nobody waits any longer. */
const pause = (ms: number, left: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    left.addEventListener("abort", reject);
  });

/** What the server makes of the times as they are now, a moment after the last key. */
function LivePreview({ draft }: { draft: Draft }): JSX.Element {
  const { kind, cron, every, run_at, timezone, starts_at, ends_at, jitter, dst_gap, dst_fold } = draft;
  const key = JSON.stringify([kind, cron, every, run_at, timezone, starts_at, ends_at, jitter, dst_gap, dst_fold]);
  const isEmpty = !draft[kind].trim();
  const { data, problem } = useLoaded(
    async (left) => {
      if (isEmpty) return null;
      await pause(TYPING_MS, left);
      const { args: _, ...times } = fieldsOf({ ...draft, args: "{}" });
      const {
        task_id: _task,
        name: _name,
        overlap: _overlap,
        misfire: _misfire,
        misfire_limit: _limit,
        ...asking
      } = times;
      return (await call("POST /api/schedules/preview", { body: { ...asking, n: PREVIEWED } }, left)).fires;
    },
    key,
    Infinity,
    null,
  );
  // What was found before stays until the next is there.
  const last = useRef<PreviewedFire[] | null>(null);
  if (problem || data !== undefined) last.current = data ?? null;
  const fires = last.current;
  const refused = problem ? wordsOf(problem) : "";
  const said = kind === "cron" && !refused ? cronWords(cron) : "";
  return (
    <aside class="preview" aria-live="polite">
      <h2>{w("nextFires")}</h2>
      {said && <p class="cronwords">{said}</p>}
      {refused ? (
        <p class="failure">{refused}</p>
      ) : fires === null ? (
        <p class="faint">{w("typing")}</p>
      ) : (
        <Fires fires={fires} />
      )}
    </aside>
  );
}

export function Fires({ fires }: { fires: PreviewedFire[] }): JSX.Element {
  if (fires.length === 0) return <p class="faint">{w("noNext")}</p>;
  return (
    <ol class="fires">
      {fires.map((each, index) => (
        <li key={index}>
          <time dateTime={each.at}>{time(each.at)}</time>
          <small>{w("inTime", duration(Math.max(0, (Date.parse(each.at) - Date.now()) / 1000)))}</small>
          {clockThere(each.at) && <small>{clockThere(each.at)}</small>}
          {each.note && <em>{noteText(each)}</em>}
        </li>
      ))}
    </ol>
  );
}
