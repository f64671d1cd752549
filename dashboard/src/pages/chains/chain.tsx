// One chain: its walk forward and back, what its jobs returned, its moves and its runs.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Chain, type ChainJob, call, curl, type Run, type RunStep } from "../../lib/api";
import { duration, number, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { go, link, place, refine } from "../../lib/router";
import { reasonText } from "../../lib/server_texts";
import { named } from "../../lib/surface";
import { t } from "../../lib/texts";
import { Act, type Command, Copies, Crumb } from "../../ui/act";
import { usePaged, WideTable } from "../../ui/paged_table";
import { attempt, Button, Empty, Failure, Panel, Tree, Waiting } from "../../ui/parts";
import { Reason } from "../../ui/reason";
import { NAME } from "./surface";
import { CHAIN_COLOUR, w } from "./texts";
import { positionOf, StateBadge, Walk } from "./walk";

const RUNS = 20;

type Move = "run" | "resume" | "skip" | "abort";
const MOVES: Move[] = ["run", "resume", "skip", "abort"];
const SAYS = { run: "runStarted", resume: "resumed", skip: "skipped", abort: "aborted" } as const;

/** The moves that the state of a chain allows. */
function movesOf(chain: Chain): Move[] {
  if (chain.state === "READY") return ["run"];
  if (chain.state === "BLOCKED") return ["resume", "skip"];
  return chain.state === "RUNNING" && chain.operation_direction === "FORWARD" ? ["abort"] : [];
}

async function sent(move: Move, id: string): Promise<string> {
  const path = { queue_id: id };
  if (move === "run") await call("POST /api/chains/{queue_id}/run", { path, body: {} });
  else await call(`POST /api/chains/{queue_id}/${move}`, { path });
  return w(SAYS[move]);
}

function commandsOf(id: string): Command[] {
  const path = { queue_id: id };
  const moves = MOVES.map((move) => ({
    name: w(move),
    curl:
      move === "run"
        ? curl("POST /api/chains/{queue_id}/run", { path, body: {} })
        : curl(`POST /api/chains/{queue_id}/${move}`, { path }),
    command: `hanbeon chain ${move} ${id}`,
  }));
  return [
    ...moves,
    { name: w("del"), curl: curl("DELETE /api/chains/{queue_id}", { path }), command: `hanbeon chain delete ${id}` },
  ];
}

export function ChainPage({ id }: { id: string }): JSX.Element {
  const path = { queue_id: id };
  const query = place.value.query;
  const chosenRun = Number(query.get("run")) || null;
  const selected = useSignal<number | null>(null);
  const loaded = useLoaded(
    async (left) => {
      const chain = await call("GET /api/chains/{queue_id}", { path }, left);
      const stands = chain.state === "RUNNING" || chain.state === "BLOCKED";
      return { chain, why: stands ? await call("GET /api/chains/{queue_id}/explain", { path }, left) : null };
    },
    id,
    2_000,
  );
  const found = usePaged<Run>(
    (cursor, left) => call("GET /api/chains/{queue_id}/runs", { path, query: { limit: RUNS, cursor } }, left),
    id,
    2_000,
  );
  const problem = loaded.problem ?? found.problem;
  if (problem && !(loaded.data && found.data)) return <Failure problem={problem} />;
  if (!loaded.data || !found.data) return <Waiting lines={10} />;
  const { chain, why } = loaded.data;
  const runs = found.rows;
  const refresh = (): void => {
    loaded.refresh();
    found.refresh();
  };
  const run = runs.find((each) => each.run === (chosenRun ?? chain.run));
  const isLive = run?.run === chain.run;
  const act = (move: Move) => async (): Promise<void> => {
    await attempt(() => sent(move, id));
    refine({});
    refresh();
  };
  const remove = async (): Promise<void> => {
    const isGone = await attempt(async () => {
      await call("DELETE /api/chains/{queue_id}", { path });
      return w("deleted");
    });
    if (isGone) go(["chains"]);
  };
  const job = chain.jobs.find((each) => each.job_id === selected.value);
  const stoppedBy =
    why && (chain.state === "BLOCKED" || why.reasons.some((each) => each.code !== "running")) ? why.reasons : [];
  return (
    <>
      <Crumb list={named(NAME)} href={link(["chains"])}>
        <b>{w("chainNumber", chain.queue_id)}</b>
      </Crumb>
      <Panel
        class="jobhead"
        title={run ? `${w("runNumber", run.run)}${isLive ? "" : ` · ${time(run.started_at)}`}` : w("walk")}
        actions={
          <>
            {movesOf(chain).map((move) => (
              <Act
                key={move}
                confirm={move === "skip" || move === "abort"}
                kind={move === "run" || move === "resume" ? "main" : "plain"}
                onClick={act(move)}
              >
                {w(move)}
              </Act>
            ))}
            {chain.state !== "RUNNING" && chain.state !== "BLOCKED" && (
              <Act confirm onClick={remove}>
                {w("del")}
              </Act>
            )}
            <Copies of={commandsOf(id)} />
          </>
        }
      >
        <div class="chainhead" aria-live="polite">
          <StateBadge chain={chain} />
          {stoppedBy.map((each, index) => (
            <span key={index} class="failedtext">
              <Reason text={reasonText(each)} />
            </span>
          ))}
        </div>
        {chain.jobs.length === 0 ? (
          <Empty command={`hanbeon chain add ${id} --forward book --backward unbook`}>{w("noJobs")}</Empty>
        ) : (
          <Walk
            jobs={chain.jobs}
            steps={run?.queue_return ?? []}
            position={isLive ? positionOf(chain) : null}
            selected={selected.value}
            select={(each) => (selected.value = selected.value === each ? null : each)}
          />
        )}
        {job ? (
          <JobDetails job={job} steps={run?.queue_return ?? []} />
        ) : (
          chain.jobs.length > 0 && <p class="faint">{w("choose")}</p>
        )}
      </Panel>
      <div class="two">
        <Panel title={w("steps")}>
          <Steps steps={run?.queue_return ?? []} jobs={chain.jobs} />
        </Panel>
        <Panel title={w("context")}>
          <Tree value={chain.context} />
          <dl class="facts chainfacts">
            {[
              [w("library"), chain.queue_library],
              [w("retries"), number(chain.retries)],
              [w("onUnknown"), w(chain.on_unknown)],
              [w("onBackwardFailure"), w(chain.on_backward_failure)],
            ].map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </Panel>
      </div>
      <Panel title={w("runs")}>
        {runs.length === 0 ? (
          <p class="faint">{w("neverRun")}</p>
        ) : (
          <Runs runs={runs} shown={run?.run ?? null} chain={chain} />
        )}
        {found.next && (
          <p class="center">
            <Button onClick={found.more}>{w("more")}</Button>
          </p>
        )}
      </Panel>
    </>
  );
}

function JobDetails({ job, steps }: { job: ChainJob; steps: RunStep[] }): JSX.Element {
  const mine = steps.filter((each) => each.job_id === job.job_id);
  const blocked =
    typeof job.job_return === "object" &&
    "backward" in job.job_return &&
    !mine.some((each) => each.direction === "BACKWARD");
  return (
    <div class="chaindetails">
      <div>
        <h3>{w("arguments")}</h3>
        <Tree value={job.arguments} />
        <p class="faint">
          <code>{job.operation_library}</code> · {w("limit")} {duration(job.expired_time)}
        </p>
      </div>
      {mine.map((each) => (
        <div key={each.direction}>
          <h3>
            {w(each.direction === "FORWARD" ? "forward" : "backward")}
            {each.execution_id && <a href={link(["jobs", each.execution_id])}>{t("log")}</a>}
          </h3>
          <Tree value={each.return} />
        </div>
      ))}
      {blocked && (
        <div>
          <h3>{w("backward")}</h3>
          <Tree value={typeof job.job_return === "object" ? job.job_return.backward : undefined} />
        </div>
      )}
    </div>
  );
}

function Steps({ steps, jobs }: { steps: RunStep[]; jobs: ChainJob[] }): JSX.Element {
  if (steps.length === 0) return <p class="faint">{w("noSteps")}</p>;
  const operation = (step: RunStep): string => {
    const job = jobs.find((each) => each.job_id === step.job_id);
    return (step.direction === "FORWARD" ? job?.forward_operation : job?.backward_operation) ?? "";
  };
  return (
    <ol class="timeline">
      {steps.map((step, index) => (
        <li key={index}>
          <time dateTime={step.ended_at}>{time(step.ended_at)}</time>
          <span>
            {step.direction === "FORWARD" ? "→" : "←"}{" "}
            {step.execution_id ? <a href={link(["jobs", step.execution_id])}>{operation(step)}</a> : operation(step)}{" "}
            <code>{step.state}</code>
            {step.started_at && (
              <small class="faint"> {duration((Date.parse(step.ended_at) - Date.parse(step.started_at)) / 1000)}</small>
            )}
            {errorOf(step) && <span class="failedtext"> {errorOf(step)}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function errorOf(step: RunStep): string {
  const found = step.return && typeof step.return === "object" && "error" in step.return ? step.return.error : null;
  return found && typeof found === "object" && "message" in found ? String(found.message) : "";
}

function Runs({ runs, shown, chain }: { runs: Run[]; shown: number | null; chain: Chain }): JSX.Element {
  return (
    <WideTable
      class="chains stacked"
      head={
        <>
          <th>{w("run")}</th>
          <th>{w("result")}</th>
          <th>{w("started")}</th>
          <th>{w("by")}</th>
          <th class="r">{w("took")}</th>
        </>
      }
    >
      {runs.map((run) => (
        <tr key={run.run} aria-current={run.run === shown ? "true" : undefined}>
          <td>
            <button
              type="button"
              class="btn plain"
              aria-pressed={run.run === shown}
              onClick={() => refine({ run: run.run === chain.run ? "" : String(run.run) })}
            >
              {w("runNumber", run.run)}
            </button>
          </td>
          <td>
            {run.ended_at === null ? (
              <span class={`state ${CHAIN_COLOUR[chain.state]}`}>
                {w(chain.state === "BLOCKED" ? "BLOCKED" : "goesOn")}
              </span>
            ) : run.operation_direction === "FORWARD" ? (
              <span class="state succeeded">→ {w("endedForward")}</span>
            ) : (
              <span class="state failed">← {w("endedBackward")}</span>
            )}
          </td>
          <td class="nowrap" data-label={w("started")}>
            {time(run.started_at)}
          </td>
          <td data-label={w("by")}>{run.started_by}</td>
          <td class="r" data-label={w("took")}>
            {run.duration === null ? "–" : duration(run.duration)}
          </td>
        </tr>
      ))}
    </WideTable>
  );
}
