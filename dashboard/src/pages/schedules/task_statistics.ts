// How a task has done lately: derived from its latest jobs, since the database counts by queue and not by task.
import type { EngineJob } from "../../lib/api";

const STEPS = 24;

export interface TaskStep {
  /** Seconds since 1970. */
  at: number;
  succeeded: number;
  failed: number;
  p50: number | null;
  p95: number | null;
}

export interface TaskStatistics {
  /** How many jobs it looks at. */
  jobs: number;
  succeeded: number;
  failed: number;
  /** When the first and the last of those that ended did, in milliseconds; null without any. */
  from: number | null;
  to: number | null;
  /** Seconds from the start of the last attempt to its end. */
  p50: number | null;
  p95: number | null;
  steps: TaskStep[];
}

/** The smallest value that is not below this share of the others. */
function quantile(sorted: number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

const secondsOf = ({ started_at: started, finished_at: finished }: EngineJob): number[] =>
  started && finished ? [(Date.parse(finished) - Date.parse(started)) / 1000] : [];

const lasted = (jobs: EngineJob[]): number[] => jobs.flatMap(secondsOf).sort((one, other) => one - other);

export function statisticsOf(jobs: EngineJob[]): TaskStatistics {
  const ended = jobs.filter((each) => each.finished_at && (each.state === "succeeded" || each.state === "failed"));
  const at = (job: EngineJob): number => Date.parse(job.finished_at ?? "");
  const [from, to] = [Math.min(...ended.map(at)), Math.max(...ended.map(at))];
  const count = (of: EngineJob[], state: string): number => of.filter((each) => each.state === state).length;
  const width = Math.max(1, Math.ceil((to - from + 1) / STEPS));
  const runs = lasted(ended);
  const steps = Array.from({ length: ended.length ? Math.ceil((to - from + 1) / width) : 0 }, (_, index): TaskStep => {
    const start = from + index * width;
    const here = ended.filter((each) => at(each) >= start && at(each) < start + width);
    const took = lasted(here);
    return {
      at: start / 1000,
      succeeded: count(here, "succeeded"),
      failed: count(here, "failed"),
      p50: quantile(took, 0.5),
      p95: quantile(took, 0.95),
    };
  });
  return {
    jobs: jobs.length,
    succeeded: count(ended, "succeeded"),
    failed: count(ended, "failed"),
    from: ended.length ? from : null,
    to: ended.length ? to : null,
    p50: quantile(runs, 0.5),
    p95: quantile(runs, 0.95),
    steps,
  };
}
