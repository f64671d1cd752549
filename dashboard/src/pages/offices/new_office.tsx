// A new office: its name, the task that works for its roles, and how many jobs it runs at once.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { call, curl, type OfficeBody, Problem } from "../../lib/api";
import { useLoaded } from "../../lib/live";
import { go } from "../../lib/router";
import { t } from "../../lib/texts";
import { Act, Copies } from "../../ui/act";
import { Panel, wordsOf } from "../../ui/parts";
import { w } from "./texts";

const MOST_TASKS = 500;

/** Names of tasks to choose from; an installation without the surface that lists them has none. */
async function taskNames(left: AbortSignal): Promise<string[]> {
  try {
    return (await call("GET /api/tasks", { query: { limit: MOST_TASKS } }, left)).items.map((each) => each.task_id);
  } catch (error) {
    if (error instanceof Problem) return [];
    throw error;
  }
}

export function NewOffice({ close }: { close: () => void }): JSX.Element {
  const name = useSignal("");
  const task = useSignal("");
  const most = useSignal("");
  const problem = useSignal<{ field: string | null; text: string } | null>(null);
  const tasks = useLoaded(taskNames, "", 60_000, null);
  const body: OfficeBody = { name: name.value.trim() };
  if (task.value) body.sessions = { default: task.value };
  if (most.value.trim()) body.config = { maxConcurrentJobs: Number(most.value) };
  const create = async (): Promise<void> => {
    problem.value = null;
    try {
      const made = await call("POST /api/offices", { body });
      go(["offices", made.id]);
    } catch (error) {
      problem.value = { field: error instanceof Problem ? error.field : null, text: wordsOf(error) };
    }
  };
  const at = (field: string): JSX.Element | null =>
    problem.value?.field?.startsWith(field) ? (
      <small class="failedtext" role="alert">
        {problem.value.text}
      </small>
    ) : null;
  const isPlaced = ["name", "sessions", "config"].some((each) => problem.value?.field?.startsWith(each));
  return (
    <Panel title={w("newOffice")}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <div class="fields">
          <label>
            <span>{w("name")}</span>
            <input
              name="name"
              value={name.value}
              spellcheck={false}
              onInput={(event) => (name.value = event.currentTarget.value)}
            />
            {at("name")}
          </label>
          <label>
            <span>{w("defaultTask")}</span>
            <select name="task" value={task.value} onChange={(event) => (task.value = event.currentTarget.value)}>
              <option value="">–</option>
              {(tasks.data ?? []).map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
            {at("sessions")}
          </label>
          <label>
            <span>{w("maxConcurrentJobs")}</span>
            <input
              name="most"
              type="number"
              min={1}
              value={most.value}
              onInput={(event) => (most.value = event.currentTarget.value)}
            />
            {at("config")}
          </label>
        </div>
        {problem.value && !isPlaced && (
          <p class="failure" role="alert">
            {problem.value.text}
          </p>
        )}
        <div class="row">
          <Act kind="main" onClick={create}>
            {w("createOffice")}
          </Act>
          <button type="button" class="btn plain" onClick={close}>
            {t("cancel")}
          </button>
          <Copies of={[{ name: w("createOffice"), curl: curl("POST /api/offices", { body }) }]} />
        </div>
      </form>
    </Panel>
  );
}
