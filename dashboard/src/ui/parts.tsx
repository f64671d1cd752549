// Parts that pages share: states with their shapes, panels, buttons that ask twice, trees of JSON, notices.
import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { isAdmin, Problem, type State } from "../lib/api";
import { queueName, short } from "../lib/format";
import { askOwner, ownerName } from "../lib/own_queues";
import { link } from "../lib/router";
import { problemText } from "../lib/server_texts";
import { type Text, t } from "../lib/texts";

const SHAPES: Record<State, JSX.Element> = {
  ready: <circle cx="7" cy="7" r="5" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="2 2" />,
  running: <path d="M3 2l9 5-9 5z" fill="currentColor" />,
  succeeded: <path d="M2 7l3.5 4L12 3" fill="none" stroke="currentColor" stroke-width="2.2" />,
  failed: <path d="M3 3l8 8M11 3l-8 8" fill="none" stroke="currentColor" stroke-width="2.2" />,
  cancelled: (
    <g fill="none" stroke="currentColor" stroke-width="1.8">
      <circle cx="7" cy="7" r="5" />
      <path d="M3.5 10.5l7-7" />
    </g>
  ),
  pending: (
    <g fill="none" stroke="currentColor" stroke-width="1.6">
      <circle cx="7" cy="7" r="5" />
      <path d="M7 4v3l2 2" />
    </g>
  ),
};

export function Shape({ state }: { state: State }): JSX.Element {
  return (
    <svg class="shape" viewBox="0 0 14 14" aria-hidden="true">
      {SHAPES[state]}
    </svg>
  );
}

export function StateMark({ state }: { state: State }): JSX.Element {
  return (
    <span class={`state ${state}`}>
      <Shape state={state} />
      {t(state)}
    </span>
  );
}

interface JobLinkProps {
  id: string;
  task: string;
  state: State;
  meta?: unknown;
}

/** The title that a user gave a job, or its task. */
export const titleOf = ({ task, meta }: { task: string; meta?: unknown }): string =>
  meta !== null && typeof meta === "object" && "title" in meta && typeof meta.title === "string" ? meta.title : task;

export function JobLink({ id, task, state, meta }: JobLinkProps): JSX.Element {
  const title = titleOf({ task, meta });
  return (
    <a class={`joblink ${state}`} href={link(["jobs", id])}>
      <span class={`state ${state}`} title={t(state)}>
        <Shape state={state} />
        {title}
      </span>
      <code>{title === task ? short(id) : `${task} · ${short(id)}`}</code>
    </a>
  );
}

/** A queue by its name, or by that of the object that it belongs to. */
export function QueueName({ name }: { name: string }): JSX.Element {
  useEffect(() => void askOwner(name), [name]);
  return <span title={name}>{ownerName(name) ?? queueName(name)}</span>;
}

/** The heading of the page, where it is not that of its list. */
export const heading = signal<string | null>(null);

export function useHeading(text: string): void {
  useEffect(() => {
    heading.value = text;
    return () => void (heading.value = null);
  }, [text]);
}

export function Panel(props: {
  title?: string;
  class?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class={`panel ${props.class ?? ""}`}>
      {(props.title || props.actions) && (
        <header>
          <h2>{props.title}</h2>
          <div class="actions">{props.actions}</div>
        </header>
      )}
      {props.children}
    </section>
  );
}

/** The shape of what comes, until it is there. */
export function Waiting({ lines = 3 }: { lines?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label={t("loading")}>
      {Array.from({ length: lines }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}

export const notice = signal<{ text: string; bad: boolean } | null>(null);
let noticeTimer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, bad = false): void {
  notice.value = { text, bad };
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => (notice.value = null), 6_000);
}

export function wordsOf(error: unknown): string {
  if (!(error instanceof Problem)) throw error;
  return error.status === 0 ? t("unreachable") : problemText(error);
}

/** Run an action, and say what it did or why not. */
export async function attempt(action: () => Promise<string | undefined>): Promise<boolean> {
  try {
    say((await action()) ?? t("done"));
    return true;
  } catch (error) {
    say(wordsOf(error), true);
    return false;
  }
}

export function Failure({ problem }: { problem: Problem }): JSX.Element {
  return (
    <p class="failure" role="alert">
      {wordsOf(problem)}
    </p>
  );
}

interface ButtonProps {
  onClick: () => unknown;
  children: ComponentChildren;
  /** Ask once more, in place; a function asks what it says, or does not ask for null, as there is nothing to do. */
  confirm?: boolean | (() => Promise<string | null>);
  /** Only administrators may. */
  admin?: boolean;
  disabled?: boolean;
  kind?: "plain" | "main";
  label?: string;
}

async function asking(question: () => Promise<string | null>): Promise<string> {
  try {
    const text = await question();
    if (text === null) say(t("noJobs"));
    return text ?? "";
  } catch (error) {
    say(wordsOf(error), true);
    return "";
  }
}

export function Button(props: ButtonProps): JSX.Element {
  const asked = useSignal("");
  const busy = useSignal(false);
  useEffect(() => {
    if (!asked.value) return;
    const timer = setTimeout(() => (asked.value = ""), 6_000);
    return () => clearTimeout(timer);
  }, [asked.value]);
  const forbidden = props.admin === true && !isAdmin();
  const press = async (event: Event): Promise<void> => {
    event.stopPropagation();
    event.preventDefault();
    const confirms = props.confirm && !asked.value;
    busy.value = true;
    try {
      if (confirms) asked.value = typeof props.confirm === "function" ? await asking(props.confirm) : t("sure");
      else {
        asked.value = "";
        await props.onClick();
      }
    } finally {
      busy.value = false;
    }
  };
  return (
    <button
      type="button"
      class={`btn ${props.kind ?? "plain"} ${asked.value ? "asked" : ""}`}
      disabled={props.disabled || busy.value || forbidden}
      title={forbidden ? t("needsAdmin") : undefined}
      aria-label={props.label && asked.value ? `${asked.value} ${props.label}` : props.label}
      onClick={(event) => void press(event)}
    >
      {asked.value || props.children}
    </button>
  );
}

export function Copy({ text, label }: { text: string; label: Text }): JSX.Element {
  const copied = useSignal(false);
  return (
    <Button
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        copied.value = true;
        setTimeout(() => (copied.value = false), 1_500);
      }}
    >
      {copied.value ? t("copied") : t(label)}
    </Button>
  );
}

/** A JSON value, folded below its first levels. Texts of users are text nodes: nothing in them is ever run. */
export function Tree({ value, depth = 0 }: { value: unknown; depth?: number }): JSX.Element {
  if (value === null || typeof value !== "object") {
    return <span class={`json ${value === null ? "null" : typeof value}`}>{JSON.stringify(value) ?? "–"}</span>;
  }
  const entries = Object.entries(value);
  const brackets = Array.isArray(value) ? "[]" : "{}";
  if (entries.length === 0) return <span class="json">{brackets}</span>;
  return (
    <details class="json" open={depth < 2}>
      <summary>
        {brackets[0]}
        <small>{entries.length}</small>
        {brackets[1]}
      </summary>
      <dl>
        {entries.slice(0, 1_000).map(([key, each]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>
              <Tree value={each} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

export function Bar({ share }: { share: number }): JSX.Element {
  return <progress class="bar" max={100} value={Math.max(0, Math.min(100, share * 100))} />;
}

/** The share of a job's progress, if it has one that is a number of percent. */
export function shareOf(progress: unknown): number | null {
  const value = progress && typeof progress === "object" && "percent" in progress ? progress.percent : progress;
  return typeof value === "number" && value >= 0 && value <= 100 ? value / 100 : null;
}

export function Empty({ children, command }: { children: ComponentChildren; command?: string }): JSX.Element {
  return (
    <div class="empty">
      <p>{children}</p>
      {command && (
        <pre tabIndex={0}>
          <code>{command}</code>
        </pre>
      )}
    </div>
  );
}
