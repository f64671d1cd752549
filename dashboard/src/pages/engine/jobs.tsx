// Jobs: filters that live in the address, saved views, selection and bulk moves. Only the rows in sight are drawn.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import {
  type Bulk,
  type BulkDone,
  type Calls,
  call,
  curl,
  type EngineJob,
  type JobFilter,
  type State,
} from "../../lib/api";
import { ago, number, short, time } from "../../lib/format";
import { views } from "../../lib/preferences";
import { go, link, place, refine } from "../../lib/router";
import { type Text, t } from "../../lib/texts";
import { Copies, quoted } from "../../ui/act";
import { EmptyUntil } from "../../ui/first_commands";
import { usePaged } from "../../ui/paged_table";
import {
  attempt,
  Button,
  Empty,
  Failure,
  Panel,
  QueueName,
  StateMark,
  titleOf,
  Waiting,
  wordsOf,
} from "../../ui/parts";
import { exportList, type ListKind } from "./export_list";
import { JobSearchBox } from "./job_search";
import { type Fields, STATES } from "./job_tokens";

const ENDED: State[] = ["succeeded", "failed", "cancelled"];
const ACTIONS = ["cancel", "retry"] as const;
const SURE = { cancel: "sureCancel", retry: "sureRetry" } as const;
const MOVABLE = {
  cancel: (state: State) => !ENDED.includes(state),
  retry: (state: State) => state === "failed" || state === "cancelled",
};
const FIELDS: { name: Exclude<keyof JobFilter, "state" | "own">; label: Text }[] = [
  { name: "id", label: "id" },
  { name: "task", label: "task" },
  { name: "queue", label: "queue" },
  { name: "role", label: "role" },
  { name: "key", label: "key" },
  { name: "failure_type", label: "failureType" },
  { name: "text", label: "text" },
  { name: "created_after", label: "createdAfter" },
  { name: "created_before", label: "createdBefore" },
];
const COLUMNS = ["state", "task", "id", "queue", "role", "attempt", "created", "error"] as const satisfies Text[];
type Column = (typeof COLUMNS)[number];
const WIDTHS: Record<Column, string> = {
  state: "110px",
  task: "minmax(110px, 1.6fr)",
  id: "128px",
  queue: "minmax(80px, 1fr)",
  role: "minmax(60px, 0.6fr)",
  attempt: "56px",
  created: "96px",
  error: "minmax(160px, 3fr)",
};
const PAGE = 200;
const ROW_PX = 36;
const BULK_ROUNDS = 10_000;

type Query = Calls["GET /api/engine/jobs"]["query"];

const showsBuiltIn = (query: URLSearchParams): boolean => query.has("builtin");

function filterOf(query: URLSearchParams): JobFilter {
  const filter: JobFilter = {};
  for (const { name } of FIELDS) {
    const value = query.get(name);
    if (value) filter[name] = value;
  }
  const given = (query.get("state") ?? "").split(",");
  const states = STATES.filter((each) => given.includes(each));
  if (states.length) filter.state = states;
  // Of one task, of one queue or by its id, built-in ones are meant.
  if (!showsBuiltIn(query) && !filter.task && !filter.queue && !filter.id) filter.own = true;
  return filter;
}

/** The same for requests without a body, which have no null. */
const queryOf = ({ state, ...texts }: JobFilter): Query => ({
  ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== null)),
  ...(state ? { state } : {}),
});

export function Jobs(): JSX.Element {
  const query = place.value.query;
  const text = query.toString();
  const filter = filterOf(query);
  const jobs = usePaged<EngineJob>(
    (cursor, left) => call("GET /api/engine/jobs", { query: { ...queryOf(filter), limit: PAGE, cursor } }, left),
    text,
    Infinity,
    { still: true },
  );
  const selected = useSignal<ReadonlySet<string>>(new Set());
  useEffect(() => {
    selected.value = new Set();
  }, [text]);
  const rows = jobs.data && jobs.rows;

  return (
    <>
      <Filters query={query} filter={filter} />
      <Panel
        title={rows ? t("loadedOf", number(rows.length)) : t("jobs")}
        actions={<BulkMoves filter={filter} selected={selected.value} after={jobs.refresh} />}
      >
        {jobs.problem ? (
          <Failure problem={jobs.problem} />
        ) : rows === undefined ? (
          <Waiting lines={8} />
        ) : rows.length === 0 && !jobs.next ? (
          text ? (
            <Empty>{t("noJobs")}</Empty>
          ) : (
            <EmptyUntil of="enqueue">{t("noJobsYet")}</EmptyUntil>
          )
        ) : (
          <Rows rows={rows} selected={selected.value} select={(each) => (selected.value = each)} />
        )}
        {jobs.next && (
          <p class="center">
            <Button onClick={jobs.more}>{t("more")}</Button>
          </p>
        )}
      </Panel>
    </>
  );
}

/** The fields of the search as texts, as the address has them. */
function filledIn(given: Record<string, string>): Fields {
  const { builtin: _, ...fields } = given;
  return fields;
}

function Filters({ query, filter }: { query: URLSearchParams; filter: JobFilter }): JSX.Element {
  const given = Object.fromEntries(query);
  const chosen = filter.state ?? [];
  const set = (name: string, value: string): void => refine({ ...given, [name]: value });
  const toggle = (state: State): void =>
    set("state", STATES.filter((each) => (each === state) !== chosen.includes(each)).join(","));
  const name = useSignal("");
  return (
    <Panel class="filters">
      <JobSearchBox
        fields={filledIn(given)}
        search={(fields) => refine({ ...fields, ...(given.builtin ? { builtin: given.builtin } : {}) })}
      />
      <div class="chips" role="group" aria-label={t("state")}>
        {STATES.map((state) => (
          <button
            key={state}
            type="button"
            class="chip"
            aria-pressed={chosen.includes(state)}
            onClick={() => toggle(state)}
          >
            <StateMark state={state} />
          </button>
        ))}
        <label class="check">
          <input
            type="checkbox"
            checked={showsBuiltIn(query)}
            onChange={() => set("builtin", showsBuiltIn(query) ? "" : "1")}
          />{" "}
          {t("builtInJobs")}
        </label>
      </div>
      <details class="filterfields">
        <summary>{t("fields")}</summary>
        <div class="fields">
          {FIELDS.map((field) => (
            <label key={field.name}>
              <span>{t(field.label)}</span>
              <input
                name={field.name}
                value={given[field.name] ?? ""}
                spellcheck={false}
                onChange={(event) => set(field.name, event.currentTarget.value.trim())}
              />
            </label>
          ))}
        </div>
      </details>
      <div class="row">
        {views.value.map((view) => (
          <span class="chip" key={view.name}>
            <a href={`#/jobs?${view.query}`}>{view.name}</a>
            <button
              type="button"
              aria-label={`${t("remove")} ${view.name}`}
              onClick={() => (views.value = views.value.filter((each) => each !== view))}
            >
              ×
            </button>
          </span>
        ))}
        {query.toString() && (
          <>
            <input
              class="small"
              placeholder={t("viewName")}
              aria-label={t("viewName")}
              value={name.value}
              onInput={(event) => (name.value = event.currentTarget.value)}
            />
            <Button
              disabled={!name.value.trim()}
              onClick={() => {
                const made = { name: name.value.trim(), query: query.toString() };
                views.value = [...views.value.filter((each) => each.name !== made.name), made];
                name.value = "";
              }}
            >
              {t("saveView")}
            </Button>
            <a class="btn plain" href={link(["jobs"])}>
              {t("clear")}
            </a>
          </>
        )}
      </div>
    </Panel>
  );
}

function BulkMoves(props: { filter: JobFilter; selected: ReadonlySet<string>; after: () => void }): JSX.Element {
  const { filter, selected } = props;
  const matched = useSignal<string>("");
  const each = async (action: "cancel" | "retry"): Promise<string> => {
    let moved = 0;
    let refused = "";
    for (const jobId of selected) {
      try {
        await call(`POST /api/engine/jobs/{jobId}/${action}`, { path: { jobId } });
        moved += 1;
      } catch (error) {
        refused = wordsOf(error);
      }
    }
    return [t("bulkDone", number(moved), number(selected.size)), refused].filter(Boolean).join(" · ");
  };
  /** What a button would do, by a dry run of its first batch. */
  const asks = (action: "cancel" | "retry") => async (): Promise<string | null> => {
    const { matched, more } = await call("POST /api/engine/jobs/bulk", { body: { action, filter, dry_run: true } });
    return matched ? t(SURE[action], `${number(matched)}${more ? "+" : ""}`) : null;
  };
  const all = async (action: "cancel" | "retry"): Promise<string> => {
    let [moved, found] = [0, 0];
    let cursor: string | null = null;
    for (let round = 0; round < BULK_ROUNDS; round++) {
      // With the cursor each job is met once, also if a retry has failed again by then.
      const body: Bulk = cursor === null ? { action, filter } : { action, filter, cursor };
      const answer: BulkDone = await call("POST /api/engine/jobs/bulk", { body });
      cursor = answer.next_cursor;
      [moved, found] = [moved + answer.done, found + answer.matched];
      matched.value = t("bulkDone", number(moved), number(found));
      if (!answer.more) break;
    }
    return t("bulkDone", number(moved), number(found));
  };
  const run = (move: () => Promise<string>) => async (): Promise<void> => {
    await attempt(move);
    matched.value = "";
    props.after();
  };
  if (selected.size) {
    return (
      <>
        <span>{t("selected", number(selected.size))}</span>
        <Button admin confirm={async () => t("sureCancel", number(selected.size))} onClick={run(() => each("cancel"))}>
          {t("cancel")}
        </Button>
        <Button admin confirm={async () => t("sureRetry", number(selected.size))} onClick={run(() => each("retry"))}>
          {t("retry")}
        </Button>
        <Copies
          of={(["cancel", "retry"] as const).map((action) => ({
            name: t(action),
            curl: [...selected]
              .map((jobId) => curl(`POST /api/engine/jobs/{jobId}/${action}`, { path: { jobId } }))
              .join("\n"),
            command: ["hanbeon", action, ...selected].join(" "),
          }))}
        />
      </>
    );
  }
  const download = (kind: ListKind) => async (): Promise<void> => {
    await attempt(async () => {
      const count = await exportList(queryOf(filter), kind, (found) => (matched.value = t("loadedOf", number(found))));
      return t("exported", number(count));
    });
    matched.value = "";
  };
  const states = [filter.state ?? STATES].flat();
  const moves = Object.keys(filter).every((each) => each === "own")
    ? []
    : ACTIONS.filter((each) => states.some(MOVABLE[each]));
  return (
    <>
      <span role="status">{matched.value}</span>
      {moves.map((action) => (
        <Button key={action} admin confirm={asks(action)} onClick={run(() => all(action))}>
          {t(action === "cancel" ? "bulkCancel" : "bulkRetry")}
        </Button>
      ))}
      <Button onClick={download("json")}>{t("exportList")}</Button>
      <Button onClick={download("csv")}>CSV</Button>
      <Copies
        of={[
          ...moves.map((action) => ({
            name: t(action === "cancel" ? "bulkCancel" : "bulkRetry"),
            curl: curl("POST /api/engine/jobs/bulk", { body: { action, filter } }),
            ...(action === "cancel" ? commandOf("cancel", filter) : {}),
          })),
          {
            name: t("jobs"),
            curl: curl("GET /api/engine/jobs", { query: queryOf(filter) }),
            ...commandOf("jobs", filter),
          },
        ]}
      />
    </>
  );
}

/** The command line with the same filter, if it has one: of the fields, it knows these. */
function commandOf(name: "cancel" | "jobs", filter: JobFilter): { command?: string } {
  const { state = [], own, ...rest } = filter;
  const states = [state ?? []].flat();
  const known = Object.keys(rest).every((each) => ["queue", "task", "role"].includes(each));
  if (!known || (name === "cancel" && own) || (name === "cancel" && states.some((each) => ENDED.includes(each))))
    return {};
  const options = [
    ...states.map((each) => `--state ${each}`),
    ...Object.entries(rest).map(([each, value]) => `--${each} ${quoted(String(value))}`),
  ];
  return { command: ["hanbeon", name, ...options].join(" ") };
}

/** Rows of one height in a box of their own: what is out of sight is not in the document. */
function Rows(props: {
  rows: EngineJob[];
  selected: ReadonlySet<string>;
  select: (ids: ReadonlySet<string>) => void;
}): JSX.Element {
  const { rows, selected } = props;
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  useEffect(() => {
    const measure = (): void => void (height.value = box.current?.clientHeight ?? 600);
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  const first = Math.max(0, Math.floor(top.value / ROW_PX) - 10);
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / ROW_PX) + 10);
  const toggle = (id: string): void => {
    const changed = new Set(selected);
    if (!changed.delete(id)) changed.add(id);
    props.select(changed);
  };
  const columns = COLUMNS.filter(
    (each) =>
      (each !== "role" || rows.some((job) => job.role)) && (each !== "error" || rows.some((job) => job.error_message)),
  );
  const widths = { "--columns": ["20px", ...columns.map((each) => WIDTHS[each])].join(" ") };
  const allChosen = rows.length > 0 && selected.size === rows.length;
  return (
    <div class="grid" role="table" aria-rowcount={rows.length} style={widths}>
      <div class="gridrow head" role="row">
        <span role="columnheader">
          <input
            type="checkbox"
            aria-label={t("selected", rows.length)}
            checked={allChosen}
            onChange={() => props.select(allChosen ? new Set() : new Set(rows.map((job) => job.id)))}
          />
        </span>
        {columns.map((each) => (
          <span key={each} role="columnheader" data-col={each}>
            {t(each)}
          </span>
        ))}
      </div>
      <div class="scroll" ref={box} onScroll={(event) => (top.value = event.currentTarget.scrollTop)}>
        <div style={{ height: `${first * ROW_PX}px` }} />
        {rows.slice(first, last).map((job) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: a larger target for pointers; keys use the link inside
          <div class="gridrow" role="row" key={job.id} onClick={() => go(["jobs", job.id])}>
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: keeps clicks on the box from the row */}
            <span role="cell" onClick={(event) => event.stopPropagation()}>
              <input
                type="checkbox"
                aria-label={job.id}
                checked={selected.has(job.id)}
                onChange={() => toggle(job.id)}
              />
            </span>
            <span role="cell" data-col="state">
              <StateMark state={job.state} />
            </span>
            <span role="cell" data-col="task" class="clip">
              <a href={link(["jobs", job.id])} title={job.task}>
                {titleOf(job)}
              </a>
            </span>
            <span role="cell" data-col="id">
              <code title={job.id}>{short(job.id)}</code>
            </span>
            <span role="cell" data-col="queue" class="clip">
              <QueueName name={job.queue} />
            </span>
            {columns.includes("role") && (
              <span role="cell" data-col="role" class="clip">
                {job.role ?? ""}
              </span>
            )}
            <span role="cell" data-col="attempt">
              {job.attempt || ""}
            </span>
            <span role="cell" data-col="created" title={time(job.created_at)}>
              {ago(job.created_at)}
            </span>
            {columns.includes("error") && (
              <span role="cell" data-col="error" class="clip failedtext" title={job.error_message ?? ""}>
                {job.error_message ?? ""}
              </span>
            )}
          </div>
        ))}
        <div style={{ height: `${(rows.length - last) * ROW_PX}px` }} />
      </div>
    </div>
  );
}
