// The walk of a chain: forward from the first job to the last, and back from the one that failed.
import type { JSX } from "preact";
import type { Chain, ChainJob, Direction, RunStep, State } from "../../lib/api";
import { duration, number } from "../../lib/format";
import { Shape } from "../../ui/parts";
import { CHAIN_COLOUR, w } from "./texts";

const MOST = 200;
const NONE = "NO_OPERATION";

/** Where the walk of a run is now; null once it has ended. */
export interface Position {
  job: number;
  direction: Direction;
  blocked: boolean;
}

interface Half {
  state: State;
  text: string;
  /** The walk has been or is here. */
  reached: boolean;
}

export const positionOf = (chain: Chain): Position | null =>
  typeof chain.running_job === "number"
    ? { job: chain.running_job, direction: chain.operation_direction, blocked: chain.state === "BLOCKED" }
    : null;

const stepOf = (steps: RunStep[], job: ChainJob, direction: Direction): RunStep | undefined =>
  steps.find((each) => each.job_id === job.job_id && each.direction === direction);

function forwardHalf(job: ChainJob, step: RunStep | undefined, position: Position | null): Half {
  if (!step && position?.job === job.job_id && position.direction === "FORWARD")
    return { state: "running", text: w("runsNow"), reached: true };
  const word = step ? step.state.split(", ")[0] : job.state.startsWith("NOLIB") ? "NOLIB" : "NOTYET";
  if (word === "SUCCESS") return { state: "succeeded", text: w("did"), reached: true };
  if (word === "FAILED") return { state: "failed", text: w("didFail"), reached: true };
  if (word === "TIMEOUT") return { state: "failed", text: w("timedOut"), reached: true };
  if (word === "NOLIB") return { state: "pending", text: w("noLibrary"), reached: step !== undefined };
  return { state: "ready", text: w("waits"), reached: false };
}

function backwardHalf(job: ChainJob, steps: RunStep[], position: Position | null): Half {
  const step = stepOf(steps, job, "BACKWARD");
  if (step) {
    const failed = step.state.split(", ").length > 1 && step.state.endsWith("FAILED");
    return { state: failed ? "failed" : "cancelled", text: w(failed ? "undoFailed" : "undone"), reached: true };
  }
  if (position?.job === job.job_id && position.direction === "BACKWARD") {
    return position.blocked
      ? { state: "failed", text: w("blockedHere"), reached: true }
      : { state: "running", text: w("runsNow"), reached: true };
  }
  const turned = position?.direction === "BACKWARD" && stepOf(steps, job, "FORWARD") !== undefined;
  return { state: "ready", text: w(turned ? "waits" : "notNeeded"), reached: false };
}

interface WalkProps {
  jobs: ChainJob[];
  steps: RunStep[];
  position: Position | null;
  selected: number | null;
  select: (job: number) => void;
}

export function Walk({ jobs, steps, position, selected, select }: WalkProps): JSX.Element {
  return (
    <>
      <ol class="walk" tabIndex={0} aria-label={w("walk")}>
        {jobs.slice(0, MOST).map((job) => {
          const step = stepOf(steps, job, "FORWARD");
          const forward = forwardHalf(job, step, position);
          const backward = backwardHalf(job, steps, position);
          return (
            <li key={job.job_id} class={`${forward.reached ? "went" : ""} ${backward.reached ? "back" : ""}`}>
              <button type="button" aria-pressed={selected === job.job_id} onClick={() => select(job.job_id)}>
                <small>{w("step", job.job_id)}</small>
                <HalfView half={forward} operation={job.forward_operation} direction="FORWARD" step={step} />
                <HalfView
                  half={backward}
                  operation={job.backward_operation}
                  direction="BACKWARD"
                  step={stepOf(steps, job, "BACKWARD")}
                />
                <code>{steps.findLast((each) => each.job_id === job.job_id)?.state ?? "NOTYET"}</code>
              </button>
            </li>
          );
        })}
      </ol>
      {jobs.length > MOST && <p class="faint">{w("shownOf", number(MOST), number(jobs.length))}</p>}
    </>
  );
}

function HalfView(props: {
  half: Half;
  operation: string;
  direction: Direction;
  step: RunStep | undefined;
}): JSX.Element {
  const { half, operation, direction, step } = props;
  const isForward = direction === "FORWARD";
  const lasted = step?.started_at ? (Date.parse(step.ended_at) - Date.parse(step.started_at)) / 1000 : null;
  return (
    <span class={`half ${half.reached ? "" : "dim2"}`}>
      <i aria-hidden="true">{isForward ? "→" : "←"}</i>
      <span class="operation">
        <b class={operation === NONE ? "faint" : ""}>{operation === NONE ? w("nothing") : operation}</b>
        <span class={`state ${half.reached || half.state === "pending" ? half.state : "cancelled"}`}>
          {half.reached || half.state === "pending" ? <Shape state={half.state} /> : null}
          {half.text}
          {lasted !== null && lasted >= 0.001 && <small>{duration(lasted)}</small>}
        </span>
      </span>
    </span>
  );
}

/** The walk in one line, for a list. */
export function MiniWalk({ chain }: { chain: Chain }): JSX.Element {
  const steps = Array.isArray(chain.queue_return)
    ? chain.queue_return.map((each) => ({ ...each, execution_id: null, started_at: null, ended_at: "" }))
    : [];
  const position = positionOf(chain);
  const done = chain.jobs.filter((job) => job.state.startsWith("SUCCESS")).length;
  return (
    <span class="miniwalk" role="img" aria-label={w("stepsDone", number(done), number(chain.jobs.length))}>
      {chain.jobs.slice(0, 24).map((job) => {
        const forward = forwardHalf(job, stepOf(steps, job, "FORWARD"), position);
        const backward = backwardHalf(job, steps, position);
        const shown = backward.reached ? backward : forward;
        return (
          <span key={job.job_id} class={`state ${shown.state}`} title={`${job.forward_operation} · ${job.state}`}>
            <Shape state={shown.state} />
          </span>
        );
      })}
      {chain.jobs.length > 24 && <small class="faint">+{number(chain.jobs.length - 24)}</small>}
    </span>
  );
}

export function StateBadge({ chain }: { chain: Chain }): JSX.Element {
  const isBack = chain.operation_direction === "BACKWARD" && chain.run > 0;
  return (
    <span class="row">
      <span class={`badge chainstate ${CHAIN_COLOUR[chain.state]}`}>{w(chain.state)}</span>
      {chain.run > 0 && <span class="faint">{isBack ? `← ${w("backwards")}` : `→ ${w("forwards")}`}</span>}
    </span>
  );
}
