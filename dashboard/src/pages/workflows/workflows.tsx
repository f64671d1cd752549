// Workflows: the list with next runs, and the counts of all runs.
import type { JSX } from "preact";
import { call, curl } from "../../lib/api";
import { number } from "../../lib/format";
import { useLoaded } from "../../lib/live";
import { link, place } from "../../lib/router";
import { named } from "../../lib/surface";
import { t } from "../../lib/texts";
import { Act, type Command, Copies, canWrite } from "../../ui/act";
import { attempt, Empty, Failure, Panel, Waiting } from "../../ui/parts";
import { Counts } from "./counts";
import { Editor } from "./editor";
import { type Flow, flowOf, gist, inWords, NextRun, StatusBadge } from "./parts";
import { NAME } from "./surface";
import { w } from "./texts";
import { OneWorkflow } from "./workflow";

const PAGE = 200;

export function Workflows(): JSX.Element {
  const [, id, sub] = place.value.parts;
  if (id === "new") return <Editor key="new" />;
  if (id && sub === "edit") return <EditSaved key={id} id={id} />;
  return id ? <OneWorkflow key={id} id={id} run={sub} /> : <List />;
}

function EditSaved({ id }: { id: string }): JSX.Element {
  const { data, problem } = useLoaded(
    (left) => call("GET /api/workflows/{id}", { path: { id } }, left),
    id,
    3_600_000,
    null,
  );
  if (problem && !data) return <Failure problem={problem} />;
  return data ? <Editor saved={flowOf(data)} /> : <Waiting lines={8} />;
}

/** Run it now, and say how it ended; one that takes longer goes on by itself. */
export async function runNow(workflow: Flow, variables?: Record<string, unknown>): Promise<string> {
  const body = variables ? { workflow_id: workflow.id, variables } : { workflow_id: workflow.id };
  const done = await call("POST /api/workflow/execute", { body });
  if (done.status === "pending" || done.status === "running") return w("runBegan");
  return w("ranAs", w(done.status));
}

export async function toggle(workflow: Flow): Promise<string> {
  const move = workflow.status === "active" ? "pause" : "activate";
  await call(`POST /api/workflows/{id}/${move}`, { path: { id: workflow.id } });
  return w(move === "pause" ? "pausedDone" : "activated");
}

export function commandsOf(workflow: Flow): Command[] {
  const path = { id: workflow.id };
  const move = workflow.status === "active" ? "pause" : "activate";
  return [
    {
      name: w("runNow"),
      curl: curl("POST /api/workflow/execute", { body: { workflow_id: workflow.id } }),
      command: `hanbeon workflow run ${workflow.id}`,
    },
    {
      name: w(move),
      curl: curl(`POST /api/workflows/{id}/${move}`, { path }),
      command: `hanbeon workflow ${move} ${workflow.id}`,
    },
    {
      name: w("delete"),
      curl: curl("DELETE /api/workflows/{id}", { path }),
      command: `hanbeon workflow delete ${workflow.id}`,
    },
  ];
}

function List(): JSX.Element {
  const { data, problem, refresh } = useLoaded(
    (left) => call("GET /api/workflows", { query: { limit: PAGE } }, left),
    "",
    10_000,
  );
  if (problem && !data) return <Failure problem={problem} />;
  if (!data) return <Waiting lines={6} />;
  const create = canWrite() && (
    <a class="btn main" href={link(["workflows", "new"])}>
      {w("newWorkflow")}
    </a>
  );
  if (data.items.length === 0) {
    return (
      <Panel actions={create}>
        <Empty command="hanbeon workflow create welcome.json">{w("none")}</Empty>
      </Panel>
    );
  }
  return (
    <>
      <Counts />
      <Panel
        title={t("rows", number(data.items.length))}
        actions={
          <>
            <Copies of={[{ name: named(NAME), curl: curl("GET /api/workflows"), command: "hanbeon workflow list" }]} />
            {create}
          </>
        }
      >
        <div class="wide">
          <table class="workflows stacked">
            <thead>
              <tr>
                <th>{w("name")}</th>
                <th>{w("status")}</th>
                <th>{w("when")}</th>
                <th>{w("nextRun")}</th>
                <th>{w("steps")}</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {data.items.map((each) => (
                <Row key={each.id} workflow={flowOf(each)} refresh={refresh} />
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
    </>
  );
}

function Row({ workflow, refresh }: { workflow: Flow; refresh: () => void }): JSX.Element {
  const run = (move: () => Promise<string>) => async (): Promise<void> => {
    await attempt(move);
    refresh();
  };
  const active = workflow.status === "active";
  return (
    <tr>
      <td class="name">
        <a href={link(["workflows", workflow.id])}>{workflow.name}</a>
      </td>
      <td>
        <StatusBadge status={workflow.status} />
      </td>
      <td>{inWords(workflow.schedule_config)}</td>
      <td>
        <NextRun at={workflow.next_run_at} />
      </td>
      <td>
        <ol class="chain">
          {workflow.steps.slice(0, 6).map((step, index) => (
            <li key={index} title={gist(step)}>
              {w(step.type)}
            </li>
          ))}
        </ol>
      </td>
      <td class="r nowrap">
        <Act confirm label={`${w("runNow")} ${workflow.name}`} onClick={run(() => runNow(workflow))}>
          {w("runNow")}
        </Act>{" "}
        <Act
          confirm={active}
          label={`${w(active ? "pause" : "activate")} ${workflow.name}`}
          onClick={run(() => toggle(workflow))}
        >
          {w(active ? "pause" : "activate")}
        </Act>
        <Copies row={workflow.name} of={commandsOf(workflow)} />
      </td>
    </tr>
  );
}
