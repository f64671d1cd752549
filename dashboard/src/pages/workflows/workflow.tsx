// One workflow: its steps, a dry run with the messages, and the history of its runs step by step.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { call, curl, type RenderedMessage, type WorkflowRun, type WorkflowStep } from "../../lib/api";
import { duration, short, since, time } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { go, link } from "../../lib/router";
import { named } from "../../lib/surface";
import { Act, Copies, Crumb, quoted } from "../../ui/act";
import { attempt, Button, Empty, Failure, Panel, Tree, Waiting, wordsOf } from "../../ui/parts";
import { type Flow, flowOf, gist, inWords, Mark, NextRun, StatusBadge, statusOf } from "./parts";
import { NAME } from "./surface";
import { w } from "./texts";
import { readValue, shownValue } from "./values";
import { commandsOf, runNow, toggle } from "./workflows";

const RUNS = 20;

export function OneWorkflow({ id, run }: { id: string; run: string | undefined }): JSX.Element {
  const loaded = useLoaded((left) => call("GET /api/workflows/{id}", { path: { id } }, left), id, 10_000);
  const { problem, refresh } = loaded;
  const data = loaded.data && flowOf(loaded.data);
  if (problem && !data) return <Failure problem={problem} />;
  if (!data) return <Waiting lines={10} />;
  return (
    <>
      <Crumb list={named(NAME)} href={link(["workflows"])}>
        <b>{data.name}</b>
      </Crumb>
      <Head workflow={data} refresh={refresh} />
      <div class="two">
        <Steps workflow={data} />
        <Trial key={data.version} workflow={data} refresh={refresh} />
      </div>
      <Runs workflow={data} open={run} />
    </>
  );
}

function Head({ workflow, refresh }: { workflow: Flow; refresh: () => void }): JSX.Element {
  const active = workflow.status === "active";
  const path = { id: workflow.id };
  const commands = [
    ...commandsOf(workflow),
    {
      name: w("history"),
      curl: curl("GET /api/workflows/{id}/runs", { path }),
      command: `hanbeon workflow runs ${workflow.id}`,
    },
  ];
  const remove = async (): Promise<void> => {
    const done = await attempt(async () => {
      await call("DELETE /api/workflows/{id}", { path });
      return w("deleted");
    });
    if (done) go(["workflows"]);
  };
  return (
    <Panel
      class="jobhead"
      title={workflow.name}
      actions={
        <>
          <Act
            kind={active ? "plain" : "main"}
            confirm={active}
            onClick={async () => {
              await attempt(() => toggle(workflow));
              refresh();
            }}
          >
            {w(active ? "pause" : "activate")}
          </Act>
          <Act onClick={() => go(["workflows", workflow.id, "edit"])}>{w("edit")}</Act>
          <Act confirm onClick={remove}>
            {w("delete")}
          </Act>
          <Copies of={commands} />
        </>
      }
    >
      <dl class="facts">
        <div>
          <dt>{w("status")}</dt>
          <dd>
            <StatusBadge status={workflow.status} /> {workflow.declared && <span class="badge">{w("declared")}</span>}
          </dd>
        </div>
        <div>
          <dt>{w("when")}</dt>
          <dd>
            {inWords(workflow.schedule_config)} <small class="faint">{workflow.timezone}</small>
          </dd>
        </div>
        <div>
          <dt>{w("nextRun")}</dt>
          <dd>
            <NextRun at={workflow.next_run_at} />
          </dd>
        </div>
        <div>
          <dt>{w("createdBy")}</dt>
          <dd>{workflow.created_by}</dd>
        </div>
        <div>
          <dt>{w("changed")}</dt>
          <dd>{time(workflow.updated_at)}</dd>
        </div>
        {workflow.notifications.length > 0 && (
          <div>
            <dt>{w("notifications")}</dt>
            <dd>
              <code>{workflow.notifications.join(", ")}</code>
            </dd>
          </div>
        )}
      </dl>
    </Panel>
  );
}

function Steps({ workflow }: { workflow: Flow }): JSX.Element {
  return (
    <Panel title={w("steps")}>
      <ol class="steps">
        {workflow.steps.map((step, index) => (
          <li key={index}>
            <p>
              <b>{step.name}</b> <span class="badge">{w(step.type)}</span> <code>{gist(step)}</code>
            </p>
            {step.type === "message" && <blockquote>{String(step.body ?? "")}</blockquote>}
            {step.recipients && (
              <p class="faint">
                {w("recipients")}: {step.recipients.length}, {w("forEach")}
              </p>
            )}
            {step.type === "task" && Object.keys(step.args ?? {}).length > 0 && <Tree value={step.args} />}
            {step.on_error === "continue" && (
              <p class="faint">
                {w("onError")}: {w("continue")}
              </p>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

/** Variables of one try: a dry run shows the messages, a run sends them. */
function Trial({ workflow, refresh }: { workflow: Flow; refresh: () => void }): JSX.Element {
  const given = useSignal<Record<string, string>>(
    Object.fromEntries(Object.entries(workflow.variables).map(([name, value]) => [name, shownValue(value)])),
  );
  const messages = useSignal<RenderedMessage[] | undefined>(undefined);
  const problem = useSignal("");
  const variables = (): Record<string, unknown> =>
    Object.fromEntries(Object.entries(given.value).map(([name, text]) => [name, readValue(text)]));
  /** The variables as arguments of a command. */
  const asArguments = (): string[] => (Object.keys(given.value).length ? [quoted(JSON.stringify(variables()))] : []);
  const render = async (): Promise<void> => {
    problem.value = "";
    try {
      const path = { id: workflow.id };
      messages.value = (
        await call("POST /api/workflows/{id}/dry-run", { path, body: { variables: variables() } })
      ).messages;
    } catch (error) {
      messages.value = undefined;
      problem.value = wordsOf(error);
    }
  };
  return (
    <Panel
      title={w("dryRun")}
      actions={
        <>
          <Button onClick={render}>{w("dryRun")}</Button>
          <Act
            confirm
            kind="main"
            onClick={async () => {
              await attempt(() => runNow(workflow, variables()));
              refresh();
            }}
          >
            {w("runNow")}
          </Act>
          <Copies
            of={[
              {
                name: w("dryRun"),
                curl: curl("POST /api/workflows/{id}/dry-run", {
                  path: { id: workflow.id },
                  body: { variables: variables() },
                }),
                command: ["hanbeon workflow dry-run", workflow.id, ...asArguments()].join(" "),
              },
              {
                name: w("runNow"),
                curl: curl("POST /api/workflow/execute", {
                  body: { workflow_id: workflow.id, variables: variables() },
                }),
                command: ["hanbeon workflow run", workflow.id, ...asArguments()].join(" "),
              },
            ]}
          />
        </>
      }
    >
      <div class="fields">
        {Object.entries(given.value).map(([name, text]) => (
          <label key={name}>
            <span>{name}</span>
            <input
              value={text}
              onInput={(event) => (given.value = { ...given.value, [name]: event.currentTarget.value })}
            />
          </label>
        ))}
      </div>
      {problem.value && (
        <p class="failure" role="alert">
          {problem.value}
        </p>
      )}
      {messages.value === undefined ? (
        <p class="faint hint">{w("dryRunHint")}</p>
      ) : messages.value.length === 0 ? (
        <Empty>{w("noMessages")}</Empty>
      ) : (
        <ul class="messages" aria-label={w("dryRun")}>
          {messages.value.map((each) => (
            <li key={`${each.step} ${each.recipient}`}>
              <small class="faint">
                {each.name} · {w("to")} <code>{each.target}</code>
              </small>
              <b>{each.title || <span class="faint">{w("noTitle")}</span>}</b>
              <p>{each.body}</p>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Runs({ workflow, open }: { workflow: Flow; open: string | undefined }): JSX.Element {
  const path = { id: workflow.id };
  const { data, refresh } = useLoaded(
    (left) => call("GET /api/workflows/{id}/runs", { path, query: { limit: RUNS } }, left),
    workflow.id,
    5_000,
  );
  const older = useSignal<WorkflowRun[]>([]);
  const cursor = useSignal<string | null | undefined>(undefined);
  if (!data) return <Waiting lines={4} />;
  const next = cursor.value === undefined ? data.next_cursor : cursor.value;
  const shown = new Set(data.items.map((each) => each.run_id));
  const runs = [...data.items, ...older.value.filter((each) => !shown.has(each.run_id))];
  const more = async (): Promise<void> => {
    const page = await call("GET /api/workflows/{id}/runs", {
      path,
      query: { limit: RUNS, cursor: next ?? undefined },
    });
    older.value = [...older.value, ...page.items];
    cursor.value = page.next_cursor;
  };
  const first = runs.find((each) => statusOf(each) !== "planned");
  return (
    <Panel title={w("history")}>
      {runs.length === 0 ? (
        <Empty command={`hanbeon workflow run ${workflow.id}`}>{w("noRuns")}</Empty>
      ) : (
        <div class="runs">
          {runs.map((each) => (
            <Run
              key={each.run_id}
              run={each}
              workflow={workflow}
              open={open ? each.run_id === open : each === first}
              refresh={refresh}
            />
          ))}
        </div>
      )}
      {next && (
        <p class="center">
          <Button onClick={more}>{w("more_runs")}</Button>
        </p>
      )}
    </Panel>
  );
}

function Run(props: { run: WorkflowRun; workflow: Flow; open: boolean; refresh: () => void }): JSX.Element {
  const { run, workflow } = props;
  const status = statusOf(run);
  const path = { id: workflow.id, run_id: run.run_id };
  const move = (action: "cancel" | "retry") => async (): Promise<void> => {
    await attempt(async () => {
      await call(`POST /api/workflows/{id}/runs/{run_id}/${action}`, { path });
      return w(action === "retry" ? "retried" : "cancelDone");
    });
    props.refresh();
  };
  const seconds =
    run.executed_at && ((run.ended_at ? Date.parse(run.ended_at) : Date.now()) - Date.parse(run.executed_at)) / 1000;
  const actions: ("cancel" | "retry")[] =
    run.status === "failed" ? ["retry"] : run.status === "pending" || run.status === "running" ? ["cancel"] : [];
  return (
    <details class="run" open={props.open}>
      <summary>
        <Mark status={status} />
        <span>{time(run.executed_at ?? run.scheduled_time)}</span>
        <span class="faint">{w(run.kind)}</span>
        <span class="faint">{typeof seconds === "number" ? duration(seconds) : ""}</span>
        {run.error_message && <span class="failedtext clip">{run.error_message}</span>}
      </summary>
      <div class="runbody">
        {run.error_message && <p class="failure">{`${run.error_code ?? ""}: ${run.error_message}`}</p>}
        {run.skipped && <p class="faint">{w("skipped", run.skipped.count)}</p>}
        <div class="row">
          <a href={link(["jobs", run.run_id])}>
            {w("job")} <code>{short(run.run_id)}</code>
          </a>
          {actions.map((action) => (
            <Act key={action} confirm={action === "cancel"} onClick={move(action)}>
              {w(action)}
            </Act>
          ))}
          <Copies
            of={[
              ...actions.map((action) => ({
                name: w(action),
                curl: curl(`POST /api/workflows/{id}/runs/{run_id}/${action}`, { path }),
                command: `hanbeon workflow ${action} ${workflow.id} ${run.run_id}`,
              })),
              {
                name: w("show"),
                curl: curl("GET /api/workflows/{id}/runs/{run_id}", { path }),
                command: `hanbeon workflow history ${workflow.id} ${run.run_id}`,
              },
            ]}
          />
        </div>
        {run.steps.length > 0 && (
          <div class="wide">
            <table class="stacked">
              <thead>
                <tr>
                  <th>{w("steps")}</th>
                  <th>{w("status")}</th>
                  <th class="r">{w("attempts")}</th>
                  <th class="r">{w("took")}</th>
                  <th>{w("output")}</th>
                </tr>
              </thead>
              <tbody>
                {run.steps.map((step) => (
                  <StepRow key={step.index} step={step} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </details>
  );
}

function StepRow({ step }: { step: WorkflowStep }): JSX.Element {
  const end = step.ended_at ? Date.parse(step.ended_at) : null;
  return (
    <tr>
      <td>
        {step.index + 1}. {step.name} <span class="badge">{w(step.type)}</span>
      </td>
      <td data-label={w("status")}>
        <Mark status={step.status} />
      </td>
      <td class="r" data-label={w("attempts")}>
        {step.attempts}
      </td>
      <td class="r" data-label={w("took")}>
        {duration(end === null ? since(step.started_at) : (end - Date.parse(step.started_at)) / 1000)}
      </td>
      <td>
        {step.error_message && <span class="failedtext">{step.error_message}</span>}
        {step.unknown > 0 && <p class="faint">{w("twice", step.unknown)}</p>}
        {step.deliveries.length > 1 ? (
          <ul class="deliveries">
            {step.deliveries.map((each) => (
              <li key={each.recipient}>
                {w("recipient", each.recipient + 1)} <Mark status={each.status} />{" "}
                {each.error_message && <span class="failedtext">{each.error_message}</span>}
              </li>
            ))}
          </ul>
        ) : (
          step.output !== null && <Tree value={step.output} depth={1} />
        )}
        {step.job_id && (
          <a href={link(["jobs", step.job_id])}>
            {w("job")} <code>{short(step.job_id)}</code>
          </a>
        )}
      </td>
    </tr>
  );
}
