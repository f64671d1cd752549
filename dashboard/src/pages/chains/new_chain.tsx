// A new chain: its library, and a row for each step with the operation there and the one that undoes it.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { call, curl, type NewChain, type NewChainJob, Problem } from "../../lib/api";
import { go } from "../../lib/router";
import { t } from "../../lib/texts";
import { Act, Copies } from "../../ui/act";
import { Panel, wordsOf } from "../../ui/parts";
import { w } from "./texts";

interface Step {
  forward: string;
  backward: string;
  args: string;
}

const EMPTY: Step = { forward: "", backward: "", args: "" };
const FIELDS = ["forward", "backward", "args"] as const;
const LABELS = { forward: "forwardOperation", backward: "backwardOperation", args: "stepArguments" } as const;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function jobOf({ forward, backward, args }: Step): NewChainJob {
  const job: NewChainJob = { forward_operation: forward.trim() };
  if (backward.trim()) job.backward_operation = backward.trim();
  if (args.trim() && isJson(args)) job.arguments = JSON.parse(args);
  return job;
}

export function NewChainForm({ close }: { close: () => void }): JSX.Element {
  const library = useSignal("");
  const steps = useSignal<Step[]>([EMPTY]);
  const problem = useSignal("");
  const faulty = steps.value.findIndex((each) => each.args.trim() !== "" && !isJson(each.args));
  const body: NewChain = { jobs: steps.value.filter((each) => each.forward.trim()).map(jobOf) };
  if (library.value.trim()) body.queue_library = library.value.trim();
  const create = async (): Promise<void> => {
    problem.value = "";
    if (faulty >= 0) return;
    try {
      const made = await call("POST /api/chains", { body });
      go(["chains", String(made.queue_id)]);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problem.value = wordsOf(error);
    }
  };
  const edit = (at: number, change: Partial<Step>): void =>
    void (steps.value = steps.value.map((each, index) => (index === at ? { ...each, ...change } : each)));
  return (
    <Panel title={w("newChain")}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <div class="fields">
          <label>
            <span>{w("library")}</span>
            <input
              name="library"
              value={library.value}
              placeholder="mypkg.operations"
              spellcheck={false}
              onInput={(event) => (library.value = event.currentTarget.value)}
            />
          </label>
        </div>
        {steps.value.map((step, at) => (
          <div key={at} class="fields">
            {FIELDS.map((name) => (
              <label key={name}>
                <span>
                  {at + 1}. {w(LABELS[name])}
                </span>
                <input
                  name={`${name}.${at}`}
                  value={step[name]}
                  spellcheck={false}
                  aria-invalid={name === "args" && at === faulty}
                  onInput={(event) => edit(at, { [name]: event.currentTarget.value })}
                />
                {name === "args" && at === faulty && (
                  <small class="failedtext" role="alert">
                    {w("asJson")}
                  </small>
                )}
              </label>
            ))}
          </div>
        ))}
        {problem.value && (
          <p class="failure" role="alert">
            {problem.value}
          </p>
        )}
        <div class="row">
          <Act kind="main" onClick={create}>
            {w("createChain")}
          </Act>
          <button type="button" class="btn plain" onClick={() => (steps.value = [...steps.value, EMPTY])}>
            {w("addStep")}
          </button>
          <button type="button" class="btn plain" onClick={close}>
            {t("cancel")}
          </button>
          <Copies of={[{ name: w("createChain"), curl: curl("POST /api/chains", { body }) }]} />
        </div>
      </form>
    </Panel>
  );
}
