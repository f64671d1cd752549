// The search box of jobs: tokens that are completed while one types, with a field for each of them behind it.
import { useSignal } from "@preact/signals";
import type { JSX, TargetedKeyboardEvent } from "preact";
import { useEffect } from "preact/hooks";
import { call, Problem } from "../../lib/api";
import { words } from "../../lib/words";
import { completions, type Fields, fieldsOf, type Known, STATES, textOf } from "./job_tokens";

const w = words(
  { find: "Find jobs: state:failed task:fetch text", unknown: "{0} is no state; there are {1}." },
  { find: "작업 찾기: state:failed task:fetch 글자", unknown: "{0} 상태는 없습니다. 가능한 상태: {1}." },
);
const MOST_NAMES = 200;

async function namesOf(read: () => Promise<string[]>): Promise<string[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Problem) return [];
    throw error;
  }
}

async function known(): Promise<Known> {
  const [task, queue] = await Promise.all([
    namesOf(async () => {
      const { items } = await call("GET /api/tasks", { query: { limit: MOST_NAMES } });
      return items.map((each) => each.task_id);
    }),
    namesOf(async () => {
      const { items } = await call("GET /api/engine/queues", { query: { limit: MOST_NAMES } });
      return items.map((each) => each.name);
    }),
  ]);
  return { task, queue };
}

export function JobSearchBox({ fields, search }: { fields: Fields; search: (fields: Fields) => void }): JSX.Element {
  const now = textOf(fields);
  const text = useSignal(now);
  const values = useSignal<Known | null>(null);
  const open = useSignal(false);
  const chosen = useSignal(-1);
  useEffect(() => void (text.value = now), [now]);
  const { unknown } = fieldsOf(text.value);
  const choices = open.value ? completions(text.value, values.value ?? {}) : [];
  const ask = async (): Promise<void> => {
    if (values.value) return;
    values.value = {};
    values.value = await known();
  };
  const send = (): void => {
    open.value = false;
    const read = fieldsOf(text.value);
    if (read.unknown.length === 0) search(read.fields);
  };
  const take = (choice: string): void => {
    text.value = choice;
    chosen.value = -1;
    if (choice.endsWith(" ")) send();
  };
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && choices.length) {
      chosen.value = (chosen.value + step + choices.length) % choices.length;
    } else if (event.key === "Escape") open.value = false;
    else if (event.key === "Enter") {
      const choice = choices[chosen.value];
      if (choice === undefined) send();
      else take(choice);
    } else if (event.key === "Tab" && choices[0] !== undefined && !event.shiftKey)
      take(choices[chosen.value] ?? choices[0]);
    else return;
    event.preventDefault();
  };
  return (
    <div class="jobsearch">
      <input
        role="combobox"
        aria-label={w("find")}
        placeholder={w("find")}
        aria-expanded={choices.length > 0}
        aria-controls="jobchoices"
        aria-activedescendant={chosen.value >= 0 ? `jobchoice-${chosen.value}` : undefined}
        aria-invalid={unknown.length > 0}
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onFocus={() => void ask()}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          open.value = true;
          chosen.value = -1;
          if (text.value === "") send();
        }}
        onKeyDown={onKey}
        onBlur={send}
      />
      {choices.length > 0 && (
        <div class="menu" id="jobchoices" role="listbox" aria-label={w("find")}>
          {choices.map((each, index) => (
            <div
              key={each}
              id={`jobchoice-${index}`}
              class="choice"
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen.value}
              // Before the box loses the focus.
              onMouseDown={(event) => {
                event.preventDefault();
                take(each);
              }}
            >
              {each.trim().split(" ").at(-1)}
            </div>
          ))}
        </div>
      )}
      {unknown.length > 0 && !open.value && (
        <small class="failedtext" role="alert">
          {w("unknown", unknown.join(", "), STATES.join(", "))}
        </small>
      )}
    </div>
  );
}
