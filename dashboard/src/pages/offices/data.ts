// The jobs of one office as the page has them: read in pages, then kept up to date by the office's events.
import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type CancelAll, call, type EventType, type JobStatus, type Problem, type SchedulerEvent } from "../../lib/api";
import { type Follow, loader } from "../../lib/loader";
import { stream } from "../../lib/stream";
import type { Link } from "./graph_layout";

export interface OfficeJob {
  id: string;
  name: string;
  role: string | null;
  status: JobStatus;
  /** The last attempt, in milliseconds since 1970. */
  began: number | null;
  ended: number | null;
}

export interface OfficeGraph {
  jobs: Map<string, OfficeJob>;
  links: Link[];
  /** Changes with the jobs and links, not with their states. */
  shape: string;
  /** More jobs than a page can draw. */
  truncated: boolean;
}

export const UNFINISHED: ReadonlySet<JobStatus> = new Set(["pending", "ready", "processing", "timeout"]);
export const isRunning = (status: JobStatus): boolean => status === "processing" || status === "timeout";

const isWaiting = (status: JobStatus): boolean => status === "pending" || status === "ready" || status === "cancelled";

/** Cancel all unfinished jobs that match, as many at a time as one request takes; return how many. */
export async function cancelAllJobs(office: string, body: CancelAll): Promise<number> {
  let count = 0;
  for (;;) {
    const { cancelled, more } = await call("POST /api/offices/{id}/jobs/cancel-all", { path: { id: office }, body });
    count += cancelled.length;
    if (!more) return count;
  }
}

const MOST_JOBS = 5_000;
const PAGE = 1_000;
const AGAIN_MS = 15_000;
const SOON_MS = 500;
const DRAWN_MS = 100;
const AFTER: Record<EventType, JobStatus> = {
  job_ready: "ready",
  job_started: "processing",
  job_completed: "done",
  job_failed: "failed",
  job_timeout: "timeout",
  job_retrying: "pending",
  job_cancelled: "cancelled",
};

export interface OfficeData {
  graph: Signal<OfficeGraph | undefined>;
  problem: Signal<Problem | undefined>;
  /** Counts up with every change of a state. */
  moves: Signal<number>;
  refresh: () => void;
}

export function useOffice(id: string, taskId: string): OfficeData {
  const data = useMemo(() => officeData(id, taskId), [id, taskId]);
  useEffect(() => data.start(), [data]);
  return data;
}

function officeData(id: string, taskId: string): OfficeData & { start: () => () => void } {
  const moves = signal(0);
  let reading = false;
  let mayHaveMissed = true;
  let meanwhile: SchedulerEvent[] = [];
  let drawing: ReturnType<typeof setTimeout> | undefined;

  // Drawn a few times a second at the most, however much happens.
  const moved = (): void => {
    drawing ??= setTimeout(() => {
      drawing = undefined;
      moves.value += 1;
    }, DRAWN_MS);
  };
  /** Move a job as an event says; false if it is not known. */
  const apply = (event: SchedulerEvent, graph: OfficeGraph | undefined): boolean => {
    const job = graph?.jobs.get(event.job_id);
    if (!job) return false;
    const status = AFTER[event.type];
    const at = Date.parse(event.timestamp);
    if (status === "processing") [job.began, job.ended] = [at, null];
    else if (!UNFINISHED.has(status) && isRunning(job.status)) job.ended = at;
    job.status = status;
    moved();
    return true;
  };
  const read = async (left: AbortSignal): Promise<OfficeGraph> => {
    const missed = mayHaveMissed;
    [reading, mayHaveMissed, meanwhile] = [true, false, []];
    try {
      const found = await readGraph(id, taskId, loaded.data.peek(), left);
      if (left.aborted) return found;
      loaded.data.value = found;
      // What happened while the pages were read is newer than they are.
      for (const event of meanwhile) apply(event, found);
      moved();
      // Events carry the times of what moves later.
      if (missed || [...found.jobs.values()].some((job) => job.began === null && !isWaiting(job.status))) {
        await readTimes(id, taskId, found, left);
      }
      moved();
      return found;
    } catch (error) {
      mayHaveMissed ||= missed;
      throw error;
    } finally {
      reading = false;
    }
  };
  const follow: Follow = (changed) => {
    let soon: ReturnType<typeof setTimeout> | undefined;
    const later = (): void => {
      soon ??= setTimeout(() => {
        soon = undefined;
        changed();
      }, SOON_MS);
    };
    const event = (each: SchedulerEvent): void => {
      if (reading) meanwhile.push(each);
      if (!apply(each, loaded.data.peek())) later();
    };
    const missed = (): void => {
      mayHaveMissed = true;
      later();
    };
    const stop = stream("/ws/offices/{id}/events", { id }, { event, missed });
    return () => {
      stop();
      clearTimeout(soon);
      clearTimeout(drawing);
      drawing = undefined;
    };
  };
  const loaded = loader(read, AGAIN_MS, follow);
  return { graph: loaded.data, problem: loaded.problem, moves, refresh: loaded.refresh, start: loaded.start };
}

async function readGraph(
  id: string,
  taskId: string,
  before: OfficeGraph | undefined,
  left: AbortSignal,
): Promise<OfficeGraph> {
  const jobs = new Map<string, OfficeJob>();
  const links: Link[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await call(
      "GET /api/offices/{id}/graph",
      {
        path: { id },
        query: { limit: PAGE, task_id: taskId || undefined, cursor: cursor ?? undefined },
      },
      left,
    );
    for (const node of page.nodes) {
      const known = before?.jobs.get(node.id);
      const name = node.title ?? node.key ?? node.task_id ?? node.id.slice(0, 8);
      jobs.set(node.id, {
        id: node.id,
        name,
        role: node.role,
        status: node.status,
        began: known?.began ?? null,
        ended: known?.ended ?? null,
      });
    }
    links.push(...page.edges);
    cursor = page.next_cursor;
  } while (cursor !== null && jobs.size < MOST_JOBS);
  const inside = links.filter((each) => jobs.has(each.from) && jobs.has(each.to));
  return { jobs, links: inside, shape: `${[...jobs.keys()].join()} ${inside.length}`, truncated: cursor !== null };
}

/** When each job began and ended: the graph has no times. */
async function readTimes(id: string, taskId: string, graph: OfficeGraph, left: AbortSignal): Promise<void> {
  let cursor: string | null | undefined;
  let seen = 0;
  do {
    const page = await call(
      "GET /api/offices/{id}/jobs",
      {
        path: { id },
        query: { limit: PAGE, task_id: taskId || undefined, cursor: cursor ?? undefined },
      },
      left,
    );
    for (const each of page.items) {
      const job = graph.jobs.get(each.id);
      if (!job || each.started_at === null) continue;
      job.began = Date.parse(each.started_at);
      const ended = each.completed_at ?? each.cancelled_at;
      job.ended = ended === null ? null : Date.parse(ended);
    }
    seen += page.items.length;
    cursor = page.next_cursor;
  } while (cursor !== null && seen < graph.jobs.size);
}

/** How long each job took, or will if it takes as long as others of its role; in seconds. */
export function durations(graph: OfficeGraph): (id: string) => number {
  const all = { sum: 0, count: 0 };
  const byRole = new Map<string | null, typeof all>();
  for (const job of graph.jobs.values()) {
    if (job.status !== "done" || job.began === null || job.ended === null) continue;
    const ofRole = byRole.get(job.role) ?? { sum: 0, count: 0 };
    byRole.set(job.role, ofRole);
    for (const each of [all, ofRole]) {
      each.sum += (job.ended - job.began) / 1000;
      each.count += 1;
    }
  }
  return (id) => {
    const job = graph.jobs.get(id);
    if (!job) return 0;
    const lasted = job.began === null ? 0 : ((job.ended ?? Date.now()) - job.began) / 1000;
    if (!UNFINISHED.has(job.status)) return lasted;
    const like = byRole.get(job.role) ?? all;
    const usual = like.count ? like.sum / like.count : 1;
    return isRunning(job.status) ? Math.max(lasted, usual) : usual;
  };
}
