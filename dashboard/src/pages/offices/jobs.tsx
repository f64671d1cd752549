// Jobs of an office: filters that live in the address, priorities by key, and moves of one, or of all that match.
import { useSignal } from "@preact/signals";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { type CancelAll, call, curl, type Job, type JobStatus } from "../../lib/api";
import { ago, number, time } from "../../lib/format";
import { link, place, refine } from "../../lib/router";
import { t } from "../../lib/texts";
import { Act, type Command, Copies, canWrite, quoted } from "../../ui/act";
import { usePaged } from "../../ui/paged_table";
import { attempt, Bar, Button, Empty, Failure, Shape, say, shareOf, Waiting, wordsOf } from "../../ui/parts";
import { cancelAllJobs, UNFINISHED } from "./data";
import { STATE_OF, statusWord, w } from "./texts";

const STATUSES: JobStatus[] = ["pending", "ready", "processing", "done", "failed", "cancelled"];
const PAGE = 200;
const CANCELLABLE: NonNullable<CancelAll["statuses"]> = ["pending", "ready", "processing", "timeout"];
const RETRIABLE: JobStatus[] = ["failed", "cancelled"];
const AT_ONCE = 4;
const LOWEST = 2_147_483_647;

interface Filter {
  status: JobStatus[];
  role: string;
  task_id: string;
}

export function filterOf(query: URLSearchParams): Filter {
  const given = (query.get("status") ?? "").split(",");
  const status = STATUSES.filter((each) => given.includes(each));
  return { status, role: query.get("role") ?? "", task_id: query.get("task_id") ?? "" };
}

export function OfficeJobs({ office, refresh }: { office: string; refresh: () => void }): JSX.Element {
  const query = place.value.query;
  const filter = filterOf(query);
  const text = JSON.stringify(filter);
  const search: Search = (cursor, left, status = filter.status) =>
    call(
      "GET /api/offices/{id}/jobs",
      {
        path: { id: office },
        query: {
          status: status.length ? status : undefined,
          role: filter.role || undefined,
          task_id: filter.task_id || undefined,
          limit: PAGE,
          cursor,
        },
      },
      left,
    );
  const jobs = usePaged<Job>((cursor, left) => search(cursor, left), `${office} ${text}`, Infinity, { still: true });
  const rows = jobs.data && jobs.rows;
  const after = (): void => {
    jobs.refresh();
    refresh();
  };
  return (
    <>
      <Filters given={Object.fromEntries(query)} filter={filter} />
      <div class="officebulk">
        <span class="faint">{rows ? w("shown", number(rows.length)) : ""}</span>
        <BulkMoves office={office} filter={filter} search={search} after={after} />
      </div>
      {jobs.problem ? (
        <Failure problem={jobs.problem} />
      ) : rows === undefined ? (
        <Waiting lines={6} />
      ) : rows.length === 0 ? (
        <Empty>{w("noMatch")}</Empty>
      ) : (
        <>
          <div class="wide">
            <table class="officejobs stacked">
              <thead>
                <tr>
                  <th>{w("title")}</th>
                  <th>{t("status")}</th>
                  <th>{t("role")}</th>
                  <th>{w("workItem")}</th>
                  <th class="r">{t("priority")}</th>
                  <th class="r">{t("age")}</th>
                  <td />
                </tr>
              </thead>
              <tbody>
                {rows.map((job) => (
                  <Row key={job.id} office={office} job={job} after={after} />
                ))}
              </tbody>
            </table>
          </div>
          <p class="faint keyshint">{w("keysHint")}</p>
        </>
      )}
      {jobs.next && (
        <p class="center">
          <Button onClick={jobs.more}>{w("more")}</Button>
        </p>
      )}
    </>
  );
}

function Filters({ given, filter }: { given: Record<string, string>; filter: Filter }): JSX.Element {
  const set = (name: string, value: string): void => refine({ ...given, [name]: value });
  const toggle = (status: JobStatus): void =>
    set("status", STATUSES.filter((each) => (each === status) !== filter.status.includes(each)).join(","));
  return (
    <div class="officefilters">
      <div class="chips" role="group" aria-label={t("status")}>
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            class="chip"
            aria-pressed={filter.status.includes(status)}
            onClick={() => toggle(status)}
          >
            <span class={`state ${STATE_OF[status]}`}>
              <Shape state={STATE_OF[status]} />
              {statusWord(status)}
            </span>
          </button>
        ))}
      </div>
      <label>
        <span>{t("role")}</span>
        <input
          name="role"
          class="small"
          value={filter.role}
          spellcheck={false}
          onChange={(event) => set("role", event.currentTarget.value.trim())}
        />
      </label>
    </div>
  );
}

type Search = (
  cursor?: string,
  left?: AbortSignal,
  status?: JobStatus[],
) => Promise<{ items: Job[]; next_cursor: string | null }>;

interface BulkProps {
  office: string;
  filter: Filter;
  search: Search;
  after: () => void;
}

function BulkMoves({ office, filter, search, after }: BulkProps): JSX.Element {
  const progress = useSignal("");
  const unfinished = CANCELLABLE.filter((each) => filter.status.includes(each));
  const body: CancelAll = {};
  if (filter.role) body.role = filter.role;
  if (filter.task_id) body.task_id = filter.task_id;
  if (filter.status.length) body.statuses = unfinished;
  const nothingToCancel = filter.status.length > 0 && unfinished.length === 0;
  const retriable = RETRIABLE.filter((each) => filter.status.length === 0 || filter.status.includes(each));
  const isFiltered = filter.status.length > 0 || filter.role !== "" || filter.task_id !== "";
  const cancel = async (): Promise<string> => {
    return w("cancelled", number(await cancelAllJobs(office, body)));
  };
  /** Retry what failed or was cancelled at the moment of the search, each once, a few at a time. */
  const retry = async (): Promise<string> => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page: Awaited<ReturnType<Search>> = await search(cursor, undefined, retriable);
      ids.push(...page.items.map((job) => job.id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    const [total, open] = [ids.length, [...ids]];
    let done = 0;
    let refused = "";
    const worker = async (): Promise<void> => {
      for (let jobId = open.shift(); jobId; jobId = open.shift()) {
        try {
          await call("POST /api/offices/{id}/jobs/{jobId}/retry", { path: { id: office, jobId } });
          done += 1;
        } catch (error) {
          refused = wordsOf(error);
        }
        progress.value = w("retried", number(done), number(total));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return [w("retried", number(done), number(total)), refused].filter(Boolean).join(" · ");
  };
  /** What a button would do; more than a page is not counted. */
  const asks = (text: "sureCancel" | "sureRetry", status: JobStatus[]) => async (): Promise<string | null> => {
    const { items, next_cursor: more } = await search(undefined, undefined, status);
    return items.length ? t(text, `${number(items.length)}${more ? "+" : ""}`) : null;
  };
  const run = (move: () => Promise<string>) => async (): Promise<void> => {
    await attempt(move);
    progress.value = "";
    after();
  };
  const options = [
    ...unfinished.map((each) => `--status ${each}`),
    ...(filter.role ? [`--role ${quoted(filter.role)}`] : []),
    ...(filter.task_id ? [`--task-id ${quoted(filter.task_id)}`] : []),
  ];
  return (
    <span class="actions">
      <span role="status">{progress.value}</span>
      <Act
        confirm={asks("sureCancel", filter.status.length ? unfinished : CANCELLABLE)}
        disabled={nothingToCancel}
        onClick={run(cancel)}
      >
        {isFiltered ? w("bulkCancel") : w("cancelAll")}
      </Act>
      <Act confirm={asks("sureRetry", retriable)} disabled={retriable.length === 0} onClick={run(retry)}>
        {w("bulkRetry")}
      </Act>
      <Copies
        of={[
          {
            name: w("bulkCancel"),
            curl: curl("POST /api/offices/{id}/jobs/cancel-all", { path: { id: office }, body }),
            command: ["hanbeon office cancel-all", office, ...options].join(" "),
          },
          // One call of operators for what the button does job by job.
          ...(filter.task_id || retriable.length === 0
            ? []
            : [
                {
                  name: w("bulkRetry"),
                  curl: curl("POST /api/engine/jobs/bulk", {
                    body: {
                      action: "retry",
                      filter: {
                        queue: `office:${office}`,
                        state: retriable.map((each) => STATE_OF[each]),
                        ...(filter.role ? { role: filter.role } : {}),
                      },
                    },
                  }),
                },
              ]),
          {
            name: w("jobs"),
            curl: curl("GET /api/offices/{id}/jobs", {
              path: { id: office },
              query: {
                status: filter.status.length ? filter.status : undefined,
                role: filter.role || undefined,
                task_id: filter.task_id || undefined,
              },
            }),
            command: [
              "hanbeon office jobs",
              office,
              ...filter.status.map((each) => `--status ${each}`),
              ...options.filter((each) => !each.startsWith("--status")),
            ].join(" "),
          },
        ]}
      />
    </span>
  );
}

function commandsOf(path: { id: string; jobId: string }, job: Job, unfinished: boolean): Command[] {
  const move = unfinished ? "cancel" : "retry";
  const found: Command[] = [
    {
      name: t(move),
      curl: curl(`POST /api/offices/{id}/jobs/{jobId}/${move}`, { path }),
      command: `hanbeon ${move} ${job.id}`,
    },
  ];
  if (!unfinished) return found;
  for (const [name, priority] of [[w("raise"), job.priority - 1] as const, [w("lower"), job.priority + 1] as const]) {
    const text = curl("PATCH /api/offices/{id}/jobs/{jobId}/priority", { path, body: { priority } });
    found.push({ name, curl: text, command: `hanbeon priority ${job.id} --to=${priority}` });
  }
  found.push({
    name: w(job.urgent ? "makeNotUrgent" : "makeUrgent"),
    curl: curl("PATCH /api/offices/{id}/jobs/{jobId}/priority", { path, body: { urgent: !job.urgent } }),
    command: `hanbeon priority ${job.id} ${job.urgent ? "--not-urgent" : "--urgent"}`,
  });
  return found;
}

function Row({ office, job, after }: { office: string; job: Job; after: () => void }): JSX.Element {
  const path = { id: office, jobId: job.id };
  const unfinished = UNFINISHED.has(job.status);
  const again = job.status === "failed" || job.status === "cancelled";
  const asked = useSignal("");
  const change = async (body: { priority?: number; urgent?: boolean }): Promise<void> => {
    const changed = await attempt(async () => {
      const found = await call("PATCH /api/offices/{id}/jobs/{jobId}/priority", { path, body });
      return body.urgent === undefined
        ? w("prioritySays", found.priority)
        : w(found.urgent ? "urgentSays" : "notUrgentSays");
    });
    if (changed) after();
  };
  const by = (step: number): Promise<void> =>
    change({ priority: Math.max(-LOWEST, Math.min(LOWEST, job.priority + step)) });
  const move = async (action: "cancel" | "retry"): Promise<void> => {
    await attempt(async () => void (await call(`POST /api/offices/{id}/jobs/{jobId}/${action}`, { path })));
    after();
  };
  const key = (event: TargetedKeyboardEvent<HTMLTableRowElement>): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey || !canWrite()) return;
    const pressed = event.key.toLowerCase();
    if (unfinished && (pressed === "+" || pressed === "=")) void by(-1);
    else if (unfinished && pressed === "-") void by(1);
    else if (unfinished && pressed === "u") void change({ urgent: !job.urgent });
    else if ((unfinished && pressed === "c") || (again && pressed === "r")) {
      // Asked once more, like the buttons.
      if (asked.value === pressed) void move(pressed === "c" ? "cancel" : "retry");
      else say(`${t(pressed === "c" ? "cancel" : "retry")}: ${t("sure")} (${pressed.toUpperCase()})`);
      asked.value = asked.value === pressed ? "" : pressed;
    } else if (pressed === "arrowdown" || pressed === "arrowup") {
      const row = event.currentTarget;
      const next = pressed === "arrowdown" ? row.nextElementSibling : row.previousElementSibling;
      if (next instanceof HTMLElement) next.focus();
    } else return;
    event.preventDefault();
  };
  const share = job.status === "processing" ? shareOf(job.progress) : null;
  const name = job.title ?? job.key ?? job.id.slice(0, 8);
  return (
    <tr tabIndex={0} onKeyDown={key} onBlur={() => (asked.value = "")}>
      <td>
        <a href={link(["jobs", job.id])}>{name}</a>
        {job.error_message && unfinished === false && (
          <small class="failedtext clip" title={job.error_message}>
            {job.error_message}
          </small>
        )}
      </td>
      <td class="nowrap">
        <span class={`state ${STATE_OF[job.status]}`}>
          <Shape state={STATE_OF[job.status]} />
          {statusWord(job.status)}
        </span>{" "}
        {share !== null && <Bar share={share} />}
        {job.status === "pending" && job.depends_on.length > 0 && (
          <small class="faint">{w("blockedBy", number(job.depends_on.length))}</small>
        )}
      </td>
      <td>{job.role ?? ""}</td>
      <td class="clip">{job.task_id ?? ""}</td>
      <td class="r nowrap">
        {unfinished ? (
          <>
            {job.urgent && <span class="badge bad">{t("urgent")}</span>}{" "}
            <span class="stepper">
              <Act label={`${w("raise")}: ${name}`} onClick={() => by(-1)}>
                ▲
              </Act>
              <b>{number(job.priority)}</b>
              <Act label={`${w("lower")}: ${name}`} onClick={() => by(1)}>
                ▼
              </Act>
            </span>
          </>
        ) : (
          <span class="faint">{number(job.priority)}</span>
        )}
      </td>
      <td class="r" title={time(job.created_at)}>
        {ago(job.created_at)}
      </td>
      <td class="r nowrap">
        {unfinished && (
          <Act confirm label={`${t("cancel")} ${name}`} onClick={() => move("cancel")}>
            {t("cancel")}
          </Act>
        )}
        {again && (
          <Act confirm label={`${t("retry")} ${name}`} onClick={() => move("retry")}>
            {t("retry")}
          </Act>
        )}
        {(unfinished || again) && <Copies row={name} of={commandsOf(path, job, unfinished)} />}
      </td>
    </tr>
  );
}
