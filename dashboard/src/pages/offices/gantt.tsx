// Attempts over time: a row for each job that has begun, a bar for each of its attempts. Attempts are read for the rows in sight.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, type JobExecution } from "../../lib/api";
import { clock, duration } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { link } from "../../lib/router";
import { Empty, Shape } from "../../ui/parts";
import { isRunning, type OfficeData, type OfficeGraph, type OfficeJob } from "./data";
import { STATE_OF, w } from "./texts";

const ROW_PX = 28;
const AT_ONCE = 6;
const TICK_MS = 1_000;
const SCALES = [1, 4, 16, 64];
const BAR_STATE: Record<JobExecution["status"], string> = {
  running: "running",
  completed: "succeeded",
  failed: "failed",
  timeout: "failed",
  cancelled: "cancelled",
};

/** A job's attempts are known until it moves again. */
const versionOf = (job: OfficeJob): string => `${job.status} ${job.began}`;

export function OfficeGantt({
  office,
  graph,
  data,
}: {
  office: string;
  graph: OfficeGraph;
  data: OfficeData;
}): JSX.Element {
  const jobs = [...graph.jobs.values()];
  const box = useRef<HTMLDivElement>(null);
  const known = useRef(new Map<string, { version: string; executions: JobExecution[] }>());
  const firsts = useRef(new Map<string, number>());
  const scale = useSignal(1);
  const top = useSignal(0);
  const left = useSignal(0);
  const size = useSignal({ width: 800, height: 400 });
  const now = useSignal(Date.now());
  const read = useSignal(0);
  void data.moves.value;
  void read.value;

  // In the order in which they began first: a retry does not move its row.
  for (const job of jobs) {
    if (job.began === null) continue;
    const attempts = known.current.get(job.id)?.executions ?? [];
    const began = Math.min(
      job.began,
      firsts.current.get(job.id) ?? Infinity,
      ...attempts.map((each) => Date.parse(each.started_at)),
    );
    firsts.current.set(job.id, began);
  }
  const begun = (job: OfficeJob): number => firsts.current.get(job.id) ?? 0;
  const rows = jobs.filter((job) => job.began !== null).sort((a, b) => begun(a) - begun(b) || (a.id < b.id ? -1 : 1));
  const first = Math.max(0, Math.floor(top.value / ROW_PX) - 4);
  const last = Math.min(rows.length, Math.ceil((top.value + size.value.height) / ROW_PX) + 4);
  const inSight = rows.slice(first, last);
  const alive = rows.some((job) => isRunning(job.status));

  useEffect(() => {
    const measure = (): void => {
      const element = box.current;
      if (element) size.value = { width: element.clientWidth, height: element.clientHeight };
    };
    measure();
    const seen = new ResizeObserver(measure);
    if (box.current) seen.observe(box.current);
    return () => seen.disconnect();
  }, [rows.length > 0]);
  useEffect(() => {
    if (!alive) return;
    const timer = setInterval(() => void (document.hidden || (now.value = Date.now())), TICK_MS);
    return () => clearInterval(timer);
  }, [alive]);
  const wanted = inSight.filter((job) => known.current.get(job.id)?.version !== versionOf(job));
  const key = wanted.map((job) => `${job.id} ${versionOf(job)}`).join();
  const attempts = async (left: AbortSignal): Promise<void> => {
    const open = [...wanted];
    const worker = async (): Promise<void> => {
      for (let job = open.shift(); job && !left.aborted; job = open.shift()) {
        const version = versionOf(job);
        const path = { id: office, jobId: job.id };
        const detail = await call("GET /api/offices/{id}/jobs/{jobId}", { path }, left);
        known.current.set(job.id, { version, executions: detail.executions });
        read.value += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };
  useLoaded(attempts, key, Infinity, null);

  const [oldest] = rows;
  if (!oldest) return <Empty>{w("noAttempts")}</Empty>;
  const bars = (job: OfficeJob): JobExecution[] => known.current.get(job.id)?.executions ?? [];
  const begin = begun(oldest);
  const end = Math.max(
    begin + 1_000,
    ...rows.map((job) => job.ended ?? (isRunning(job.status) ? Math.max(now.value, Date.now()) : begin)),
  );
  const width = Math.max(200, size.value.width - NAME_PX) * scale.value;
  const x = (moment: number): number => ((moment - begin) / (end - begin)) * (width - 16) + 8;
  return (
    <>
      <div class="graphtools">
        <span class="segments" role="group" aria-label={w("scale")}>
          {SCALES.map((each) => (
            <button key={each} type="button" aria-pressed={scale.value === each} onClick={() => (scale.value = each)}>
              ×{each}
            </button>
          ))}
        </span>
        <span class="faint">{duration((end - begin) / 1000)}</span>
      </div>
      <div
        class="gantt"
        ref={box}
        tabIndex={0}
        role="list"
        aria-label={w("gantt")}
        onScroll={(event) => {
          top.value = event.currentTarget.scrollTop;
          left.value = event.currentTarget.scrollLeft;
        }}
      >
        <div
          class="ganttplane"
          style={{ width: `${width + NAME_PX}px`, height: `${rows.length * ROW_PX + AXIS_PX}px` }}
        >
          <Axis begin={begin} end={end} width={width} x={x} left={left.value} seen={size.value.width} />
          {inSight.map((job, index) => (
            <div
              class="ganttrow"
              role="listitem"
              key={job.id}
              style={{ top: `${(first + index) * ROW_PX + AXIS_PX}px` }}
            >
              <a class="ganttname" href={link(["jobs", job.id])} title={job.name}>
                <span class={`state ${STATE_OF[job.status]}`}>
                  <Shape state={STATE_OF[job.status]} />
                </span>
                <span class="clip">{job.name}</span>
              </a>
              <span class="ganttbars" style={{ width: `${width}px` }}>
                {(bars(job).length ? bars(job) : [asAttempt(job)]).map((each) => {
                  const from = Date.parse(each.started_at);
                  const to = each.completed_at ? Date.parse(each.completed_at) : Math.max(now.value, from);
                  const text = w("attemptSays", job.name, each.attempt, each.status, duration((to - from) / 1000));
                  return (
                    <i
                      key={each.attempt}
                      class={`ganttbar ${BAR_STATE[each.status]}`}
                      role="img"
                      aria-label={text}
                      title={each.error_message ? `${text}\n${each.error_message}` : text}
                      style={{ left: `${x(from)}px`, width: `${Math.max(3, x(to) - x(from))}px` }}
                    />
                  );
                })}
              </span>
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

const NAME_PX = 180;
const AXIS_PX = 26;

/** What is known of a job before its attempts are: its last one. */
function asAttempt(job: OfficeJob): JobExecution {
  const status = isRunning(job.status)
    ? "running"
    : job.status === "done"
      ? "completed"
      : job.status === "failed"
        ? "failed"
        : "cancelled";
  const ended = job.ended ?? (isRunning(job.status) ? null : job.began);
  return {
    job_id: job.id,
    attempt: 1,
    started_at: new Date(job.began ?? 0).toISOString(),
    timeout_at: null,
    session_id: "",
    status,
    completed_at: ended === null ? null : new Date(ended).toISOString(),
  };
}

const STEPS_S = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 604_800];
const LONGEST_STEP_S = 2_592_000;

function Axis(props: {
  begin: number;
  end: number;
  width: number;
  x: (moment: number) => number;
  left: number;
  seen: number;
}): JSX.Element {
  const { begin, end, width, x } = props;
  const least = ((end - begin) / width) * 90;
  const step = (STEPS_S.find((each) => each * 1000 >= least) ?? LONGEST_STEP_S) * 1000;
  const [from, to] = [props.left - 200, props.left + props.seen + 200];
  const ticks: number[] = [];
  for (let at = Math.ceil(begin / step) * step; at <= end; at += step) if (x(at) >= from && x(at) <= to) ticks.push(at);
  const word = (at: number): string =>
    step < 60_000
      ? `${clock(at)}:${String(new Date(at).getSeconds()).padStart(2, "0")}`
      : clock(at, step >= 43_200_000);
  return (
    <div class="ganttaxis" aria-hidden="true">
      {ticks.map((at) => (
        <span key={at} style={{ left: `${x(at) + NAME_PX}px` }}>
          {word(at)}
        </span>
      ))}
    </div>
  );
}
