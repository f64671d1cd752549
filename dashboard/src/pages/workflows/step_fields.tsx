// The fields of one step in the editor, by its type.
import type { JSX } from "preact";
import type { NewStep } from "../../lib/api";
import { w } from "./texts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export interface Draft {
  key: number;
  step: NewStep;
  /** Texts of fields that hold JSON, as typed. */
  json: { headers: string; recipients: string; args: string; body: string };
}

type Change = (draft: Draft) => void;
type TextField = "name" | "target" | "title" | "url" | "until" | "task_id";
type NumberField = "seconds" | "retries" | "timeout" | "retry_delay";

export function StepFields({ draft, change }: { draft: Draft; change: Change }): JSX.Element {
  const { step } = draft;
  const set = (changed: Partial<NewStep>): void => change({ ...draft, step: { ...step, ...changed } });
  const text = (name: TextField, label: string, placeholder = ""): JSX.Element => (
    <label>
      <span>{label}</span>
      <input
        name={name}
        placeholder={placeholder}
        spellcheck={false}
        value={step[name] ?? ""}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  const figure = (name: NumberField, label: string): JSX.Element => (
    <label>
      <span>{label}</span>
      <input
        type="number"
        name={name}
        min={0}
        value={step[name] ?? ""}
        onInput={(event) =>
          set({ [name]: event.currentTarget.value === "" ? undefined : event.currentTarget.valueAsNumber })
        }
      />
    </label>
  );
  const area = (name: keyof Draft["json"], label: string, rows = 3): JSX.Element => (
    <label class="area">
      <span>{label}</span>
      <textarea
        name={name}
        rows={rows}
        spellcheck={false}
        value={draft.json[name]}
        onInput={(event) => change({ ...draft, json: { ...draft.json, [name]: event.currentTarget.value } })}
      />
    </label>
  );
  return (
    <>
      <div class="fields">
        {text("name", w("name"))}
        {step.type === "message" && (
          <>
            {text("target", w("target"), w("targetHint"))}
            {text("title", w("title"))}
            {area("body", `${w("body")} · ${w("bodyHint")}`)}
          </>
        )}
        {step.type === "http" && (
          <>
            <label>
              <span>{w("method")}</span>
              <select
                value={step.method ?? "GET"}
                onChange={(event) =>
                  set({ method: METHODS.find((each) => each === event.currentTarget.value) ?? "GET" })
                }
              >
                {METHODS.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
            {text("url", w("url"), "https://example.org/report.json")}
          </>
        )}
        {step.type === "wait" && (
          <>
            {step.until === undefined || step.until === "" ? figure("seconds", w("seconds")) : null}
            {text("until", `${w("until")} (ISO 8601)`)}
          </>
        )}
        {step.type === "task" && (
          <>
            {text("task_id", w("task"))}
            {area("args", w("args"))}
          </>
        )}
      </div>
      <details class="options">
        <summary>{w("more")}</summary>
        <div class="fields">
          {figure("retries", w("retries"))}
          {figure("retry_delay", w("retryDelay"))}
          {figure("timeout", w("timeout"))}
          <label>
            <span>{w("onError")}</span>
            <select
              value={step.on_error ?? "stop"}
              onChange={(event) => set({ on_error: event.currentTarget.value === "continue" ? "continue" : "stop" })}
            >
              <option value="stop">{w("stop")}</option>
              <option value="continue">{w("continue")}</option>
            </select>
          </label>
          {step.type === "message" && area("recipients", w("recipientsJson"))}
          {step.type === "http" && area("headers", w("headers"))}
          {step.type === "http" && area("body", w("body"))}
        </div>
      </details>
    </>
  );
}
