// Home: what hurts comes first, then how much goes through, what runs now and what fails.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { call, type EngineStatistics, type State } from "./api";
import { Chart } from "./chart";
import { duration, number, since, time } from "./format";
import { usePolled } from "./live";
import { attempt, Bar, Button, Empty, Failure, JobLink, Panel, Shape, shareOf, Waiting } from "./parts";
import { link } from "./router";
import { t } from "./texts";
import { FirstSteps } from "./first_steps";
import { Counts } from "./workflow_counts";

const SPANS = { hour: [3_600, 60], day: [86_400, 900], week: [7 * 86_400, 3_600] } as const;
type Span = keyof typeof SPANS;
const LATE_SECONDS = 60;
const MINUTE_MS = 60_000;
/** Whole minutes: pages that ask in the same minute ask for the same. */
const ago = (seconds: number): string => new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - seconds * 1000).toISOString();

export function Home(): JSX.Element {
  const span = useSignal<Span>("hour");
  const [seconds, step] = SPANS[span.value];
  const statistics = usePolled(
    () => call("GET /api/engine/statistics", { query: { from: ago(seconds), step } }),
    span.value,
    30_000,
    false,
  );
  const queues = usePolled(() => call("GET /api/engine/queues"), "", 10_000, false);
  const instances = usePolled(() => call("GET /api/engine/instances"), "", 20_000, false);
  const failures = usePolled(() => call("GET /api/engine/failures", { query: { limit: 8 } }), "", 20_000, false);
  const running = usePolled(() => call("GET /api/engine/jobs", { query: { state: ["running"], limit: 12 } }), "", 10_000);
  const problem = statistics.problem ?? queues.problem ?? instances.problem;
  if (problem) return <Failure problem={problem} />;
  const states = statistics.data?.states;
  const empty = states !== undefined && Object.values(states).every((each) => !each) && queues.data?.items.length === 0;
  const alive = instances.data?.items.filter((each) => each.alive) ?? [];
  const slots = alive.reduce((sum, each) => sum + each.capacity, 0);
  const all = queues.data?.items ?? [];
  const done = all.reduce((sum, each) => sum + each.succeeded, 0);
  const failed = all.reduce((sum, each) => sum + each.failed, 0);
  const late = all.filter((each) => !each.paused && (each.oldest_ready ?? 0) > LATE_SECONDS);
  const worst = late.reduce((found, each) => Math.max(found, each.oldest_ready ?? 0), 0);
  const oldest = all.reduce((found, each) => Math.max(found, each.oldest_ready ?? 0), 0);
  const lateName = late.find((each) => each.oldest_ready === worst)?.name ?? "";
  return (
    <>
      <div class="tiles">
        <Tile state="ready" title={t("waiting")} value={states?.ready} note={oldest ? t("oldest", duration(oldest)) : ""} />
        <Tile
          state="running"
          title={t("running")}
          value={states?.running}
          note={alive.length || !instances.data ? t("ofSlots", number(slots)) : t("noWorker")}
          bad={instances.data && alive.length === 0}
        />
        <Tile state="succeeded" title={t("succeeded")} value={states?.succeeded} note={t("perMinute", number(done / 60, 1))} />
        <Tile
          state="failed"
          title={t("failed")}
          value={states?.failed}
          note={t("lastHour", number(done + failed ? (100 * failed) / (done + failed) : 0, 2))}
        />
        <div class={`panel tile ${late.length ? "warn" : ""}`}>
          <span>▲ {t("delayed")}</span>
          <b>{queues.data ? number(late.length) : "–"}</b>
          <em>
            {late.length ? (
              <a href={link(["jobs"], { state: "ready", queue: lateName })}>
                {duration(worst)} · <code>{lateName}</code>
              </a>
            ) : (
              t("nothingLate")
            )}
          </em>
        </div>
      </div>
      {empty && <FirstSteps />}
      <Counts titled />
      <div class="two">
        <Panel title={t("throughput")} actions={<Spans span={span.value} choose={(each) => (span.value = each)} />}>
          {statistics.data ? <Throughput statistics={statistics.data} /> : <Waiting lines={6} />}
        </Panel>
        <Panel title={`${t("waitBefore")} (${t("logScale")})`}>{statistics.data ? <Waits statistics={statistics.data} /> : <Waiting lines={6} />}</Panel>
      </div>
      <div class="two">
        <Panel title={t("runningNow")}>
          {!running.data ? (
            <Waiting />
          ) : running.data.items.length === 0 ? (
            <Empty>{t("nothingRuns")}</Empty>
          ) : (
            <table>
              <thead>
                <tr>
                  <th>{t("job")}</th>
                  <th>{t("where")}</th>
                  <th>{t("progress")}</th>
                  <th class="r">{t("age")}</th>
                  <th />
                </tr>
              </thead>
              <tbody>
                {running.data.items.map((job) => (
                  <tr key={job.id}>
                    <td>
                      <JobLink id={job.id} task={job.task} state={job.state} />
                    </td>
                    <td>
                      {job.queue}
                      {job.role ? ` · ${job.role}` : ""}
                    </td>
                    <td>{shareOf(job.progress) === null ? "–" : <Bar share={shareOf(job.progress) ?? 0} />}</td>
                    <td class="r">{duration(since(job.started_at))}</td>
                    <td class="r">
                      <Button
                        admin
                        confirm
                        label={`${t("cancel")} ${job.task}`}
                        onClick={async () => {
                          await attempt(async () => void (await call("POST /api/engine/jobs/{jobId}/cancel", { path: { jobId: job.id } })));
                          running.refresh();
                        }}
                      >
                        {t("cancel")}
                      </Button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Panel>
        <Panel title={t("failuresWorth")}>
          {!failures.data ? (
            <Waiting />
          ) : failures.data.items.length === 0 ? (
            <Empty>{t("noFailures")}</Empty>
          ) : (
            <table>
              <thead>
                <tr>
                  <th>{t("error")}</th>
                  <th class="r">{t("count")}</th>
                  <th class="r">{t("last")}</th>
                </tr>
              </thead>
              <tbody>
                {failures.data.items.map((group) => (
                  <tr key={`${group.task} ${group.failure_type} ${group.message}`}>
                    <td class="stretch">
                      <a class="joblink failed" href={link(["jobs"], { state: "failed", task: group.task, failure_type: group.failure_type })}>
                        <span class="state failed">
                          <Shape state="failed" />
                          <span class="clip" title={group.message}>
                            {group.message || group.failure_type}
                          </span>
                        </span>
                        <code>
                          {group.task} · {group.failure_type}
                        </code>
                      </a>
                    </td>
                    <td class="r">{number(group.count)}</td>
                    <td class="r" title={time(group.last_at)}>
                      <a href={link(["jobs", group.last_id])}>{duration(since(group.last_at))}</a>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Panel>
      </div>
    </>
  );
}

function Tile(props: { state: State; title: string; value: number | undefined; note: string; bad?: boolean }): JSX.Element {
  return (
    <a class={`panel tile ${props.bad ? "warn" : ""}`} href={link(["jobs"], { state: props.state })}>
      <span>
        <i class={`state ${props.state}`}>
          <Shape state={props.state} />
        </i>
        {props.title}
      </span>
      <b>{props.value === undefined ? "–" : number(props.value)}</b>
      <em>{props.note}</em>
    </a>
  );
}

function Spans({ span, choose }: { span: Span; choose: (span: Span) => void }): JSX.Element {
  return (
    <div class="segments" role="group">
      {(Object.keys(SPANS) as Span[]).map((each) => (
        <button key={each} type="button" aria-pressed={each === span} onClick={() => choose(each)}>
          {t(each)}
        </button>
      ))}
    </div>
  );
}

const timesOf = (statistics: EngineStatistics): number[] => statistics.items.map((each) => Date.parse(each.at) / 1000);

function Throughput({ statistics }: { statistics: EngineStatistics }): JSX.Element {
  const times = useMemo(() => timesOf(statistics), [statistics]);
  const done = t("donePerSecond");
  const lines = useMemo(
    () => [
      { label: done, colour: "--accent" as const, values: statistics.items.map((each) => each.succeeded / statistics.step) },
      {
        label: t("failedPerSecond"),
        colour: "--bad" as const,
        dashed: true,
        values: statistics.items.map((each) => each.failed / statistics.step),
      },
    ],
    [statistics, done],
  );
  return <Chart times={times} lines={lines} show={(value) => number(value, 2)} label={t("throughput")} />;
}

function Waits({ statistics }: { statistics: EngineStatistics }): JSX.Element {
  const times = useMemo(() => timesOf(statistics), [statistics]);
  const lines = useMemo(
    () => [
      { label: "p50", colour: "--accent" as const, values: statistics.items.map((each) => positive(each.wait?.p50)) },
      { label: "p99", colour: "--faint" as const, values: statistics.items.map((each) => positive(each.wait?.p99)) },
    ],
    [statistics],
  );
  return <Chart times={times} lines={lines} show={duration} log label={t("waitBefore")} />;
}

/** A scale by powers of ten has no zero. */
const positive = (seconds: number | undefined): number | null => (seconds === undefined ? null : Math.max(seconds, 0.0001));
