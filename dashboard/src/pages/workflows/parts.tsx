// Workflows in words: when they run, what a step does, and states with their shapes.
import type { JSX } from "preact";
import type { NewScheduleConfig, NewStep, State, Workflow, WorkflowRun, WorkflowStatus } from "../../lib/api";
import { clockThere, duration, time } from "../../lib/format";
import { language } from "../../lib/preferences";
import { Shape } from "../../ui/parts";
import { w } from "./texts";

/** A workflow as it is answered: what the description leaves open has the shape of what was sent. */
export interface Flow extends Workflow {
  steps: NewStep[];
  schedule_config: NewScheduleConfig;
  variables: Record<string, unknown>;
}

/** The description leaves open what the server checked when it was sent. */
// biome-ignore lint/plugin: the server checked what the description leaves open
export const flowOf = (workflow: Workflow): Flow => workflow as Flow;

export const WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"] as const;

/** A run, a step or a delivery as one of the engine's states, for its shape and colour. */
const SHAPES = {
  pending: "ready",
  planned: "ready",
  waiting: "ready",
  retrying: "ready",
  running: "running",
  sending: "running",
  completed: "succeeded",
  sent: "succeeded",
  failed: "failed",
  unknown: "failed",
  cancelled: "cancelled",
} as const satisfies Record<string, State>;
export type Progressed = keyof typeof SHAPES;

export function Mark({ status }: { status: Progressed }): JSX.Element {
  return (
    <span class={`state ${SHAPES[status]}`}>
      <Shape state={SHAPES[status]} />
      {w(status)}
    </span>
  );
}

/** A run that a user cancelled is no failure, and one that is not due yet is planned. */
export function statusOf(run: WorkflowRun): Progressed {
  if (run.status === "failed" && run.error_code === "CANCELLED") return "cancelled";
  return run.status === "pending" && !run.executed_at && Date.parse(run.scheduled_time) > Date.now()
    ? "planned"
    : run.status;
}

export function StatusBadge({ status }: { status: WorkflowStatus }): JSX.Element {
  return <span class={`badge ${status === "active" ? "good" : ""}`}>{w(status)}</span>;
}

export function inWords(config: NewScheduleConfig): string {
  const again = config.recurrence;
  switch (config.mode) {
    case "immediate":
      return w("immediate");
    case "delayed":
      return w("delayed", config.delay_minutes ?? 0);
    case "scheduled":
      return w("scheduled", time(config.scheduled_time));
    case "recurring":
      if (again?.cron) return `cron ${again.cron}`;
      if (again?.frequency === "weekly") {
        const days = (again.weekdays ?? []).map((day) => w(WEEKDAYS.find((each) => each === day) ?? "MON"));
        return w("weekly", days.join(language.value === "ko" ? "·" : ", "), again.time ?? "");
      }
      if (again?.frequency === "monthly") {
        return again.day === 31 ? w("lastDay", again.time ?? "") : w("monthly", again.day ?? 1, again.time ?? "");
      }
      return w("daily", again?.time ?? "");
  }
}

/** When a run is due, also by the clock of its workflow where that differs, and how far away it is. */
export function NextRun({ at }: { at: string | null }): JSX.Element {
  if (!at) return <span class="faint">–</span>;
  const seconds = (Date.parse(at) - Date.now()) / 1000;
  return (
    <>
      <span class="nowrap">{time(at)}</span> {clockThere(at) && <small class="faint nowrap">{clockThere(at)} </small>}
      <small class="faint nowrap">{seconds >= 0 ? w("in", duration(seconds)) : w("late", duration(-seconds))}</small>
    </>
  );
}

/** What a step does, in one line. */
export function gist(step: NewStep): string {
  switch (step.type) {
    case "message":
      return [step.target ?? "", step.title ?? ""].filter(Boolean).join(" · ");
    case "http":
      return `${step.method ?? "GET"} ${step.url ?? ""}`;
    case "wait":
      return step.until ? time(step.until) : duration(step.seconds ?? (step.minutes ?? 0) * 60);
    case "task":
      return step.task_id ?? "";
  }
}
