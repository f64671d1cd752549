// Home: what hurts comes first, then how much goes through, what runs now and what fails.

import { SURFACES } from "hanbeon:surfaces";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { call, curl, type EngineStatistics, type FailureGroup, type State } from "../../lib/api";
import { ago, duration, number, short, since, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { link } from "../../lib/router";
import { t } from "../../lib/texts";
import { Copies } from "../../ui/act";
import { Chart } from "../../ui/chart";
import { Lazy } from "../../ui/lazy";
import {
  attempt,
  Bar,
  Button,
  Empty,
  Failure,
  JobLink,
  Panel,
  QueueName,
  Shape,
  shareOf,
  Waiting,
} from "../../ui/parts";
import { Attention } from "./attention";
import { FirstSteps } from "./first_steps";

const SPANS = { hour: [3_600, 60], day: [86_400, 900], week: [7 * 86_400, 3_600] } as const;
type Span = keyof typeof SPANS;
const SPAN_NAMES: Span[] = ["hour", "day", "week"];
const MINUTE_MS = 60_000;
/** Whole minutes: pages that ask in the same minute ask for the same. */
const before = (seconds: number): string =>
  new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - seconds * 1000).toISOString();

export function Home(): JSX.Element {
  const span = useSignal<Span>("hour");
  const [seconds, step] = SPANS[span.value];
  const statistics = useLoaded(
    (left) => call("GET /api/engine/statistics", { query: { from: before(seconds), step } }, left),
    span.value,
    30_000,
    null,
  );
  const overview = useLoaded((left) => call("GET /api/engine/overview", {}, left), "", 10_000, null);
  const failures = useLoaded(
    (left) => call("GET /api/engine/failures", { query: { limit: 30 } }, left),
    "",
    30_000,
    null,
  );
  const running = useLoaded(
    (left) => call("GET /api/engine/jobs", { query: { state: ["running"], own: true, limit: 12 } }, left),
    "",
    10_000,
  );
  const problem = statistics.problem ?? overview.problem;
  if (problem) return <Failure problem={problem} />;
  const now = overview.data;
  const states = now?.states;
  const empty = now !== undefined && now.queues === 0 && Object.values(now.states).every((each) => !each);
  const [done, failed, minutes] = lastHour(statistics.data);
  const worst = now?.late[0];
  return (
    <>
      <div class="tiles">
        <Tile
          state="ready"
          title={t("ready")}
          value={states?.ready}
          note={now?.oldest_ready ? t("oldest", duration(now.oldest_ready)) : ""}
        />
        <Tile
          state="running"
          title={t("running")}
          value={states?.running}
          note={now?.workers === 0 ? t("noWorker") : t("ofSlots", number(now?.slots ?? 0), number(now?.workers ?? 0))}
          bad={now?.workers === 0}
        />
        <Tile
          state="succeeded"
          title={t("succeeded")}
          value={states?.succeeded}
          note={t("perMinute", number(done / minutes, 1))}
        />
        <Tile
          state="failed"
          title={t("failed")}
          value={states?.failed}
          note={t("lastHour", number(done + failed ? (100 * failed) / (done + failed) : 0, 2))}
        />
        <div class={`panel tile ${worst ? "warn" : ""}`}>
          <span>▲ {t("late")}</span>
          <b>{now ? number(now.late_queues) : "–"}</b>
          <em>
            {worst ? (
              <a href={link(["jobs"], { state: "ready", queue: worst.name })}>
                {duration(worst.oldest_ready)} · <code>{worst.name}</code>
              </a>
            ) : (
              t("nothingLate")
            )}
          </em>
        </div>
      </div>
      {empty && <FirstSteps />}
      {now && <Attention now={now} refresh={overview.refresh} />}
      {SURFACES.map(({ home }, index) => home && <Lazy key={index} part={home} of={{}} lines={1} />)}
      <div class="two">
        <Panel title={t("throughput")} actions={<Spans span={span.value} choose={(each) => (span.value = each)} />}>
          {statistics.data ? <Throughput statistics={statistics.data} /> : <Waiting lines={6} />}
        </Panel>
        <Panel title={`${t("waitBefore")} (${t("logScale")})`}>
          {statistics.data ? <Waits statistics={statistics.data} /> : <Waiting lines={6} />}
        </Panel>
      </div>
      <div class="two">
        <Panel title={t("runningNow")}>
          {!running.data ? (
            <Waiting />
          ) : running.data.items.length === 0 ? (
            <Empty>{t("nothingRuns")}</Empty>
          ) : (
            <div class="wide">
              <table class="atwork stacked">
                <thead>
                  <tr>
                    <th>{t("job")}</th>
                    <th>{t("where")}</th>
                    <th>{t("progress")}</th>
                    <th class="r">{t("age")}</th>
                    <td />
                  </tr>
                </thead>
                <tbody>
                  {running.data.items.map((job) => (
                    <tr key={job.id}>
                      <td>
                        <JobLink id={job.id} task={job.task} state={job.state} meta={job.meta} />
                      </td>
                      <td data-label={t("where")}>
                        <QueueName name={job.queue} />
                        {job.role ? ` · ${job.role}` : ""}
                      </td>
                      <td data-label={t("progress")}>
                        {shareOf(job.progress) === null ? "–" : <Bar share={shareOf(job.progress) ?? 0} />}
                      </td>
                      <td class="r" data-label={t("age")}>
                        {duration(since(job.started_at))}
                      </td>
                      <td class="r">
                        <Button
                          admin
                          confirm
                          label={`${t("cancel")} ${job.task}`}
                          onClick={async () => {
                            await attempt(async () => {
                              await call("POST /api/engine/jobs/{jobId}/cancel", { path: { jobId: job.id } });
                              return t("stoppingSays");
                            });
                            running.refresh();
                          }}
                        >
                          {t("cancel")}
                        </Button>
                        <Copies
                          row={`${job.task} ${short(job.id)}`}
                          of={[
                            {
                              name: t("cancel"),
                              curl: curl("POST /api/engine/jobs/{jobId}/cancel", { path: { jobId: job.id } }),
                              command: `hanbeon cancel ${job.id}`,
                            },
                          ]}
                        />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Panel>
        <Panel title={t("failuresWorth")}>
          {!failures.data ? (
            <Waiting />
          ) : worthALook(failures.data.items).length === 0 ? (
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
                {worthALook(failures.data.items).map((group) => (
                  <tr key={`${group.task} ${group.failure_type} ${group.message}`}>
                    <td class="stretch">
                      <a
                        class="joblink failed"
                        href={link(["jobs"], { state: "failed", task: group.task, failure_type: group.failure_type })}
                      >
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
                      <a href={link(["jobs", group.last_id])}>{ago(group.last_at)}</a>
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

/** Without steps of chains: a chain is undone by design, and one that cannot be is named above. */
const worthALook = (groups: FailureGroup[]): FailureGroup[] =>
  groups.filter((each) => !each.task.startsWith("hanbeon.chain:")).slice(0, 8);

/** How many jobs succeeded and failed in the last hour of what is shown, and how many minutes that is. */
function lastHour(statistics: EngineStatistics | undefined): [number, number, number] {
  const steps = statistics?.items.slice(-Math.ceil(3_600 / statistics.step)) ?? [];
  const sum = (of: (step: (typeof steps)[number]) => number): number =>
    steps.reduce((total, each) => total + of(each), 0);
  return [
    sum((each) => each.succeeded),
    sum((each) => each.failed),
    Math.max(1, (steps.length * (statistics?.step ?? 60)) / 60),
  ];
}

function Tile(props: {
  state: State;
  title: string;
  value: number | undefined;
  note: string;
  bad?: boolean;
}): JSX.Element {
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
      {SPAN_NAMES.map((each) => (
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
      {
        label: done,
        colour: "--accent" as const,
        values: statistics.items.map((each) => each.succeeded / statistics.step),
      },
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
const positive = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : Math.max(seconds, 0.0001);
