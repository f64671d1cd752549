// Offices: the list, and one office with its slots, graph, attempts, jobs and settings.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { call, curl, type Job, type JobQueueStats, type JobStatus, type Office } from "../../lib/api";
import { duration, number, since, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { link, place, refine } from "../../lib/router";
import { named } from "../../lib/surface";
import { t } from "../../lib/texts";
import { Act, Copies, Crumb } from "../../ui/act";
import { attempt, Bar, Button, Empty, Failure, Panel, Shape, Waiting } from "../../ui/parts";
import { OfficeConfig } from "./config";
import { cancelAllJobs, type OfficeData, useOffice } from "./data";
import { OfficeGantt } from "./gantt";
import { OfficeGraphView } from "./graph";
import { OfficeJobs } from "./jobs";
import { NewOffice } from "./new_office";
import { NAME } from "./surface";
import { STATE_OF, statusWord, w } from "./texts";

const COUNTED = ["pending", "ready", "processing", "done", "failed", "cancelled"] as const;
const VIEWS = ["graph", "gantt", "jobs", "config"] as const;

/** A button that becomes the form of a new office. */
function Opener(): JSX.Element {
  const isOpen = useSignal(false);
  if (isOpen.value) return <NewOffice close={() => void (isOpen.value = false)} />;
  return (
    <div class="row">
      <Act kind="main" onClick={() => void (isOpen.value = true)}>
        {w("newOffice")}
      </Act>
    </div>
  );
}

export function Offices(): JSX.Element {
  const older = useSignal<Office[]>([]);
  const cursor = useSignal<string | null | undefined>(undefined);
  const { data, problem } = useLoaded(
    (left) => call("GET /api/offices", { query: { limit: 100 } }, left),
    "",
    10_000,
    null,
  );
  if (problem && !data) return <Failure problem={problem} />;
  if (!data) return <Waiting lines={6} />;
  if (data.items.length === 0) {
    return (
      <>
        <Opener />
        <Panel>
          <Empty command={curl("POST /api/offices", { body: { name: "Seoul" } })}>{w("none")}</Empty>
        </Panel>
      </>
    );
  }
  const next = cursor.value === undefined ? data.next_cursor : cursor.value;
  const more = async (): Promise<void> => {
    const page = await call("GET /api/offices", { query: { limit: 100, cursor: next ?? undefined } });
    older.value = [...older.value, ...page.items];
    cursor.value = page.next_cursor;
  };
  return (
    <>
      <Opener />
      <div class="officecards">
        {[...data.items, ...older.value].map((office) => (
          <Card key={office.id} office={office} />
        ))}
      </div>
      {next !== null && (
        <p class="center">
          <Button onClick={more}>{w("more")}</Button>
        </p>
      )}
    </>
  );
}

function Card({ office }: { office: Office }): JSX.Element {
  const { data } = useLoaded(
    (left) => call("GET /api/offices/{id}/scheduler/stats", { path: { id: office.id } }, left),
    office.id,
    5_000,
  );
  const most = office.config.maxConcurrentJobs ?? 0;
  return (
    <a class="panel tile officecard" href={link(["offices", office.id])}>
      <b>{office.name}</b>
      <code class="faint">{office.id}</code>
      {data ? (
        <>
          <Strip stats={data} />
          <span>
            <Bar share={most ? data.processing / most : 0} /> {w("slotsUsed", number(data.processing), number(most))}
          </span>
          <em>
            {w("jobsNow", number(data.processing), number(data.pending + data.ready))}
            {data.failed > 0 && <span class="failedtext"> · {`${t("failed")} ${number(data.failed)}`}</span>}
          </em>
        </>
      ) : (
        <Waiting lines={2} />
      )}
    </a>
  );
}

/** The share of each status, as a bar; the numbers stand beside it in words. */
function Strip({ stats }: { stats: JobQueueStats }): JSX.Element {
  const total = COUNTED.reduce((sum, each) => sum + stats[each], 0);
  let from = 0;
  return (
    <svg
      class="strip"
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label={COUNTED.map((each) => `${statusWord(each)} ${stats[each]}`).join(", ")}
    >
      {[...COUNTED].reverse().map((each) => {
        const [x, width] = [from, total ? (stats[each] / total) * 100 : 0];
        from += width;
        return <rect key={each} class={STATE_OF[each]} x={x} y="0" width={width} height="6" />;
      })}
    </svg>
  );
}

export function OfficePage({ id }: { id: string }): JSX.Element {
  const query = place.value.query;
  const given = Object.fromEntries(query);
  const taskId = query.get("task_id") ?? "";
  const path = { id };
  const office = useLoaded((left) => call("GET /api/offices/{id}", { path }, left), id, 15_000, null);
  const stats = useLoaded((left) => call("GET /api/offices/{id}/scheduler/stats", { path }, left), id, 5_000);
  const data = useOffice(id, taskId);
  const view = VIEWS.find((each) => each === query.get("view")) ?? "graph";
  if (office.problem && !office.data) return <Failure problem={office.problem} />;
  if (!office.data) return <Waiting lines={10} />;
  const refresh = (): void => {
    stats.refresh();
    data.refresh();
  };
  return (
    <>
      <Head office={office.data} stats={stats.data} refresh={refresh} />
      <Slots office={office.data} />
      <Panel
        actions={
          view !== "config" && (
            <label class="workitem">
              <span>{w("workItem")}</span>
              <input
                class="small"
                name="task_id"
                placeholder={w("allItems")}
                value={taskId}
                spellcheck={false}
                onChange={(event) => refine({ ...given, task_id: event.currentTarget.value.trim() })}
              />
            </label>
          )
        }
        class="officeviews"
      >
        <div class="segments" role="group" aria-label={office.data.name}>
          {VIEWS.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={view === each}
              onClick={() => refine({ ...given, view: each })}
            >
              {w(each)}
            </button>
          ))}
        </div>
        {view === "config" ? (
          <OfficeConfig office={office.data} refresh={office.refresh} />
        ) : view === "jobs" ? (
          <OfficeJobs office={id} refresh={refresh} />
        ) : (
          <Drawn office={id} data={data} view={view} />
        )}
      </Panel>
    </>
  );
}

function Drawn({ office, data, view }: { office: string; data: OfficeData; view: "graph" | "gantt" }): JSX.Element {
  const graph = data.graph.value;
  if (data.problem.value && !graph) return <Failure problem={data.problem.value} />;
  if (!graph) return <Waiting lines={8} />;
  if (graph.jobs.size === 0) {
    const jobs = [{ key: "plan" }, { key: "build", depends_on: ["plan"] }];
    const command = curl("POST /api/offices/{id}/jobs", { path: { id: office }, body: { jobs } });
    return <Empty command={command}>{w("noJobs")}</Empty>;
  }
  return (
    <>
      {graph.truncated && <p class="banner">{w("truncated", number(graph.jobs.size))}</p>}
      {view === "graph" ? (
        <OfficeGraphView office={office} graph={graph} data={data} />
      ) : (
        <OfficeGantt office={office} graph={graph} data={data} />
      )}
    </>
  );
}

function Head({
  office,
  stats,
  refresh,
}: {
  office: Office;
  stats: JobQueueStats | undefined;
  refresh: () => void;
}): JSX.Element {
  const path = { id: office.id };
  const process = (): Promise<boolean> =>
    attempt(async () => {
      const done = await call("POST /api/offices/{id}/scheduler/process", { path });
      refresh();
      return w("processed", number(done.activated), number(done.started), number(done.available_slots));
    });
  const simulate = (): Promise<boolean> =>
    attempt(async () => {
      const found = await call("POST /api/offices/{id}/scheduler/simulate", { path });
      const takes = w("simulated", number(found.jobs), duration(found.makespan_ms / 1000));
      const slot = found.add_slot;
      if (!slot) return takes;
      const limits = Object.entries(slot.limits).map(([limit, value]) => `${limit} = ${value}`);
      return w("addSlot", takes, limits.join(", "), duration(slot.makespan_ms / 1000));
    });
  const cancelAll = (): Promise<boolean> =>
    attempt(async () => {
      const cancelled = await cancelAllJobs(office.id, {});
      refresh();
      return w("cancelled", number(cancelled));
    });
  return (
    <>
      <div class="officehead">
        <Crumb list={named(NAME)} href={link(["offices"])}>
          <b>{office.name}</b>
        </Crumb>
        <span class="actions">
          <Button onClick={simulate}>{w("simulate")}</Button>
          <Act onClick={process}>{w("process")}</Act>
          <Act confirm onClick={cancelAll}>
            {w("cancelAll")}
          </Act>
          <Copies
            of={[
              {
                name: w("process"),
                curl: curl("POST /api/offices/{id}/scheduler/process", { path }),
                command: `hanbeon office process ${office.id}`,
              },
              {
                name: w("simulate"),
                curl: curl("POST /api/offices/{id}/scheduler/simulate", { path, body: {} }),
                command: `hanbeon office simulate ${office.id}`,
              },
              {
                name: w("cancelAll"),
                curl: curl("POST /api/offices/{id}/jobs/cancel-all", { path, body: {} }),
                command: `hanbeon office cancel-all ${office.id}`,
              },
              {
                name: t("state"),
                curl: curl("GET /api/offices/{id}/scheduler/stats", { path }),
                command: `hanbeon office stats ${office.id}`,
              },
            ]}
          />
        </span>
      </div>
      <div class="tiles">
        {COUNTED.map((status: JobStatus & keyof JobQueueStats) => (
          <a key={status} class="panel tile small" href={link(["offices", office.id], { view: "jobs", status })}>
            <span>
              <span class={`state ${STATE_OF[status]}`}>
                <Shape state={STATE_OF[status]} />
              </span>
              {statusWord(status)}
            </span>
            <b>{stats ? number(stats[status]) : "–"}</b>
            {status === "done" && (
              <em>{stats?.done ? w("average", duration(stats.avg_completion_time / 1000)) : ""}</em>
            )}
          </a>
        ))}
      </div>
    </>
  );
}

const NO_ROLE = "";

/** Slots by role, each with the job that holds it. */
function Slots({ office }: { office: Office }): JSX.Element {
  const path = { id: office.id };
  const { data } = useLoaded(
    async (left) => {
      const [running, ready] = await Promise.all([
        call("GET /api/offices/{id}/jobs", { path, query: { status: ["processing", "timeout"], limit: 500 } }, left),
        call("GET /api/offices/{id}/jobs", { path, query: { status: ["ready"], limit: 500 } }, left),
      ]);
      return { running: running.items, ready: ready.items };
    },
    office.id,
    5_000,
  );
  const now = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => void (document.hidden || (now.value += 1)), 1_000);
    return () => clearInterval(timer);
  }, []);
  void now.value;
  const limits = office.config.maxConcurrentByRole ?? {};
  const running = data?.running ?? [];
  const roleOf = (job: Job): string => job.role ?? NO_ROLE;
  const roles = [...new Set([...Object.keys(limits), ...running.map(roleOf), ...(data?.ready ?? []).map(roleOf)])].sort(
    (a, b) => Number(!(a in limits)) - Number(!(b in limits)),
  );
  const most = office.config.maxConcurrentJobs ?? 0;
  return (
    <Panel
      title={w("slotsTitle")}
      actions={
        <span class="soft">
          <Bar share={most ? running.length / most : 0} /> {w("slotsUsed", number(running.length), number(most))}
        </span>
      }
    >
      {!data ? (
        <Waiting lines={2} />
      ) : (
        <div class="slots">
          {roles.map((role) => {
            const held = running.filter((job) => roleOf(job) === role);
            const free = Math.max(0, (limits[role] ?? 0) - held.length);
            const ready = data.ready.filter((job) => roleOf(job) === role).length;
            return (
              <div key={role} class="slotrole">
                <h3>
                  {role || w("noRole")}
                  <small>
                    {role in limits ? `${number(held.length)} / ${number(limits[role] ?? 0)}` : w("noLimit")}
                  </small>
                  {ready > 0 && (
                    <a href={link(["offices", office.id], { view: "jobs", status: "ready", role })}>
                      {w("waiting", number(ready))}
                    </a>
                  )}
                </h3>
                <ul>
                  {held.map((job) => (
                    <li key={job.id} class="held">
                      <a href={link(["jobs", job.id])} title={time(job.started_at)}>
                        <span class={`state ${STATE_OF[job.status]}`}>
                          <Shape state={STATE_OF[job.status]} />
                        </span>
                        <span class="clip">{job.title ?? job.key ?? job.id.slice(0, 8)}</span>
                        <small>{w("heldFor", duration(since(job.started_at)))}</small>
                      </a>
                    </li>
                  ))}
                  {Array.from({ length: Math.min(free, 20) }, (_, index) => (
                    <li key={index} class="freeslot">
                      {w("free")}
                    </li>
                  ))}
                </ul>
              </div>
            );
          })}
        </div>
      )}
    </Panel>
  );
}
