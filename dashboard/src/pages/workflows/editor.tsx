// The editor of a workflow: name, times, variables and steps. The server checks it; its answer names the field.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import {
  call,
  curl,
  type Mode,
  type NewRecurrence,
  type NewScheduleConfig,
  type NewStep,
  type NewWorkflow,
  Problem,
  type StepType,
  type WorkflowChanges,
} from "../../lib/api";
import { exampleTime, installationZone } from "../../lib/format";
import { go, link } from "../../lib/router";
import { named } from "../../lib/surface";
import { Act, type Command, Copies, Crumb, quoted } from "../../ui/act";
import { Panel, say, wordsOf } from "../../ui/parts";
import { type Flow, WEEKDAYS } from "./parts";
import { type Draft, StepFields } from "./step_fields";
import { NAME } from "./surface";
import { w } from "./texts";
import { readValue, shownValue } from "./values";

const TYPES: StepType[] = ["message", "http", "wait", "task"];
const MODES: [Mode, "modeImmediate" | "modeDelayed" | "modeScheduled" | "modeRecurring"][] = [
  ["immediate", "modeImmediate"],
  ["delayed", "modeDelayed"],
  ["scheduled", "modeScheduled"],
  ["recurring", "modeRecurring"],
];
const FIRST: Record<StepType, NewStep> = {
  message: { type: "message", target: "", title: "", body: "" },
  http: { type: "http", method: "GET", url: "https://" },
  wait: { type: "wait", seconds: 60 },
  task: { type: "task", task_id: "", args: {} },
};
let keys = 0;

const replaced = <T,>(list: T[], at: number, value: T): T[] => list.map((each, index) => (index === at ? value : each));
const without = <T,>(list: T[], at: number): T[] => list.filter((_, index) => index !== at);

const draftOf = (step: NewStep): Draft => ({
  key: ++keys,
  step,
  json: {
    headers: step.headers ? JSON.stringify(step.headers, null, 1) : "",
    recipients: step.recipients ? JSON.stringify(step.recipients, null, 1) : "",
    args: step.args ? JSON.stringify(step.args, null, 1) : "",
    body: shownValue(step.body),
  },
});

type Frequency = NonNullable<NewRecurrence["frequency"]>;
const CRON = "cron";
const FREQUENCIES: Frequency[] = ["daily", "weekly", "monthly"];

/** The step as it is sent: empty fields are left out, texts of JSON are read. */
function stepOf({ step, json }: Draft): NewStep {
  const made: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(step)) if (value !== "" && value !== undefined) made[name] = value;
  for (const name of ["headers", "recipients", "args"] as const) {
    delete made[name];
    if (json[name].trim()) made[name] = parsed(json[name], w(name === "recipients" ? "recipientsJson" : name));
  }
  delete made.body;
  if (step.type === "message") made.body = json.body;
  else if (step.type === "http" && json.body) made.body = readValue(json.body);
  // biome-ignore lint/plugin: these are the fields of a step, without those that are empty
  return made as NewStep;
}

function parsed(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(422, "invalid", w("badJson", field), null);
  }
}

export function Editor({ saved }: { saved?: Flow }): JSX.Element {
  const name = useSignal(saved?.name ?? "");
  const zone = useSignal(saved?.timezone ?? "");
  const config = useSignal<NewScheduleConfig>(saved?.schedule_config ?? { mode: "immediate" });
  const variables = useSignal<[number, string, string][]>(
    Object.entries(saved?.variables ?? {}).map(([each, value]) => [++keys, each, shownValue(value)]),
  );
  const steps = useSignal<Draft[]>((saved?.steps ?? [FIRST.message]).map(draftOf));
  const problem = useSignal<Problem | undefined>(undefined);
  /** The fields as they are sent; throws a Problem for a text that should be JSON. */
  const written = (): NewWorkflow & WorkflowChanges => ({
    name: name.value,
    timezone: zone.value.trim() || null,
    schedule_config: config.value,
    variables: Object.fromEntries(
      variables.value.filter(([, each]) => each).map(([, each, text]) => [each, readValue(text)]),
    ),
    steps: steps.value.map(stepOf),
  });
  const save = async (): Promise<void> => {
    problem.value = undefined;
    try {
      const body = written();
      const made = saved
        ? await call("PATCH /api/workflows/{id}", { path: { id: saved.id }, body })
        : await call("POST /api/workflows", { body });
      say(w("saved"));
      go(["workflows", made.id]);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problem.value = error;
    }
  };
  const at = Number(/^steps\[(\d+)\]/.exec(problem.value?.field ?? "")?.[1] ?? NaN);
  const move = (from: number, to: number): void => {
    const moved = [...steps.value];
    moved.splice(to, 0, ...moved.splice(from, 1));
    steps.value = moved;
  };
  return (
    <form class="editor" onSubmit={(event) => event.preventDefault()}>
      <Crumb list={named(NAME)} href={link(["workflows"])}>
        {saved ? <a href={link(["workflows", saved.id])}>{saved.name}</a> : w("newWorkflow")}
      </Crumb>
      <Panel title={saved ? w("edit") : w("newWorkflow")}>
        <div class="fields">
          <label>
            <span>{w("name")}</span>
            <input
              name="name"
              required
              value={name.value}
              onInput={(event) => (name.value = event.currentTarget.value)}
            />
          </label>
          <label title={w("zoneHint")}>
            <span>{w("timezone")}</span>
            <input
              name="timezone"
              placeholder={installationZone()}
              value={zone.value}
              onInput={(event) => (zone.value = event.currentTarget.value)}
            />
          </label>
          <label>
            <span>{w("mode")}</span>
            <select
              value={config.value.mode}
              onChange={(event) => {
                const mode = MODES.find(([each]) => each === event.currentTarget.value);
                if (mode) config.value = firstOf(mode[0]);
              }}
            >
              {MODES.map(([mode, text]) => (
                <option key={mode} value={mode}>
                  {w(text)}
                </option>
              ))}
            </select>
          </label>
          <Times config={config.value} change={(changed) => (config.value = changed)} />
        </div>
      </Panel>
      <Panel title={w("variables")}>
        {variables.value.map(([key, each, text], index) => (
          <div class="row variable" key={key}>
            <input
              class="small"
              aria-label={w("name")}
              placeholder={w("name")}
              value={each}
              onInput={(event) =>
                (variables.value = replaced(variables.value, index, [key, event.currentTarget.value, text]))
              }
            />
            <input
              aria-label={w("default")}
              placeholder={w("default")}
              value={text}
              onInput={(event) =>
                (variables.value = replaced(variables.value, index, [key, each, event.currentTarget.value]))
              }
            />
            <Act
              label={`${w("remove")} ${each}`}
              onClick={() => void (variables.value = without(variables.value, index))}
            >
              ×
            </Act>
          </div>
        ))}
        <Act onClick={() => void (variables.value = [...variables.value, [++keys, "", ""]])}>{w("addVariable")}</Act>
      </Panel>
      {steps.value.map((draft, index) => (
        <Panel
          key={draft.key}
          class={index === at ? "wrong" : ""}
          title={`${w("step", index + 1)} · ${w(draft.step.type)}`}
          actions={
            <>
              <Act label={`${w("up")} ${index + 1}`} disabled={index === 0} onClick={() => move(index, index - 1)}>
                ↑
              </Act>
              <Act
                label={`${w("down")} ${index + 1}`}
                disabled={index === steps.value.length - 1}
                onClick={() => move(index, index + 1)}
              >
                ↓
              </Act>
              <Act
                label={`${w("remove")} ${index + 1}`}
                disabled={steps.value.length === 1}
                onClick={() => void (steps.value = without(steps.value, index))}
              >
                {w("remove")}
              </Act>
            </>
          }
        >
          <StepFields draft={draft} change={(changed) => (steps.value = replaced(steps.value, index, changed))} />
          {index === at && problem.value && (
            <p class="failure" role="alert">
              {wordsOf(problem.value)}
            </p>
          )}
        </Panel>
      ))}
      <div class="row">
        <span class="faint">{w("addStep")}</span>
        {TYPES.map((type) => (
          <Act key={type} onClick={() => void (steps.value = [...steps.value, draftOf(FIRST[type])])}>
            {w(type)}
          </Act>
        ))}
      </div>
      {problem.value && Number.isNaN(at) && (
        <p class="failure" role="alert">
          {wordsOf(problem.value)}
        </p>
      )}
      <div class="row">
        <Act kind="main" disabled={!name.value.trim()} onClick={save}>
          {w(saved ? "save" : "create")}
        </Act>
        <a class="btn plain" href={link(saved ? ["workflows", saved.id] : ["workflows"])}>
          {w("discard")}
        </a>
        <Copies of={commandsOf(saved, written)} />
      </div>
    </form>
  );
}

/** None while a text that should be JSON is none. */
function commandsOf(saved: Flow | undefined, written: () => NewWorkflow & WorkflowChanges): Command[] {
  try {
    const body = written();
    if (saved) return [{ name: w("save"), curl: curl("PATCH /api/workflows/{id}", { path: { id: saved.id }, body }) }];
    const command = `printf %s ${quoted(JSON.stringify(body))} | hanbeon workflow create -`;
    return [{ name: w("create"), curl: curl("POST /api/workflows", { body }), command }];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [];
  }
}

function firstOf(mode: Mode): NewScheduleConfig {
  if (mode === "delayed") return { mode, delay_minutes: 10 };
  if (mode === "scheduled")
    return { mode, scheduled_time: `${new Date(Date.now() + 3_600_000).toISOString().slice(0, 17)}00Z` };
  return mode === "recurring" ? { mode, recurrence: { frequency: "daily", time: "09:00" } } : { mode };
}

function Times({
  config,
  change,
}: {
  config: NewScheduleConfig;
  change: (config: NewScheduleConfig) => void;
}): JSX.Element | null {
  if (config.mode === "delayed") {
    return (
      <label>
        <span>{w("minutes")}</span>
        <input
          type="number"
          min={0}
          value={config.delay_minutes ?? undefined}
          onInput={(event) => change({ mode: "delayed", delay_minutes: event.currentTarget.valueAsNumber })}
        />
      </label>
    );
  }
  if (config.mode === "scheduled") {
    return (
      <label>
        <span>{w("moment")} (ISO 8601)</span>
        <input
          value={config.scheduled_time ?? undefined}
          placeholder={exampleTime("2027-01-31T09:00:00")}
          onInput={(event) => change({ mode: "scheduled", scheduled_time: event.currentTarget.value.trim() })}
        />
      </label>
    );
  }
  const again = config.recurrence;
  if (config.mode !== "recurring" || !again) return null;
  const set = (recurrence: NewRecurrence): void => change({ mode: "recurring", recurrence });
  const days = again.weekdays ?? [];
  const frequency = (chosen: string): void => {
    if (chosen === CRON) {
      set({ cron: "0 9 * * MON-FRI" });
      return;
    }
    const wanted = FREQUENCIES.find((each) => each === chosen) ?? "daily";
    const base = { frequency: wanted, time: again.time ?? "09:00" };
    set(wanted === "weekly" ? { ...base, weekdays: ["MON"] } : wanted === "monthly" ? { ...base, day: 1 } : base);
  };
  return (
    <>
      <label>
        <span>{w("frequency")}</span>
        <select
          value={again.cron == null ? (again.frequency ?? "daily") : CRON}
          onChange={(event) => frequency(event.currentTarget.value)}
        >
          <option value="daily">{w("freqDaily")}</option>
          <option value="weekly">{w("freqWeekly")}</option>
          <option value="monthly">{w("freqMonthly")}</option>
          <option value={CRON}>cron</option>
        </select>
      </label>
      {again.cron != null ? (
        <label>
          <span>cron</span>
          <input value={again.cron} spellcheck={false} onInput={(event) => set({ cron: event.currentTarget.value })} />
        </label>
      ) : (
        <label>
          <span>{w("time")}</span>
          <input
            type="time"
            value={again.time ?? ""}
            onInput={(event) => set({ ...again, time: event.currentTarget.value })}
          />
        </label>
      )}
      {again.frequency === "weekly" && (
        <div class="weekdays" role="group" aria-label={w("weekdays")}>
          {WEEKDAYS.map((day) => (
            <button
              key={day}
              type="button"
              class="chip"
              aria-pressed={days.includes(day)}
              onClick={() =>
                set({ ...again, weekdays: WEEKDAYS.filter((each) => (each === day) !== days.includes(each)) })
              }
            >
              {w(day)}
            </button>
          ))}
        </div>
      )}
      {again.frequency === "monthly" && (
        <label title={w("dayHint")}>
          <span>{w("day")}</span>
          <input
            type="number"
            min={1}
            max={31}
            value={again.day ?? undefined}
            onInput={(event) => set({ ...again, day: event.currentTarget.valueAsNumber })}
          />
        </label>
      )}
    </>
  );
}
