// Actions of surfaces: enabled by the scope that they need, and each as a command to copy.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { isAdmin, session } from "../lib/api";
import { words } from "../lib/words";
import { Button } from "./parts";

const w = words(
  { needsUser: "needs a token of scope user or admin", copyAs: "Copy as …", copied: "Copied" },
  { needsUser: "user 또는 admin 범위의 토큰이 필요합니다", copyAs: "명령 복사 …", copied: "복사됨" },
);

/** True if the viewer may change what belongs to users: jobs, schedules, chains. */
export const canWrite = (): boolean => isAdmin() || session.value?.scope === "user";

interface ActProps {
  onClick: () => unknown;
  children: ComponentChildren;
  /** Only administrators may; otherwise users, too. */
  admin?: boolean;
  confirm?: boolean | (() => Promise<string | null>);
  disabled?: boolean;
  kind?: "plain" | "main";
  label?: string;
}

export function Act({ admin, disabled, ...props }: ActProps): JSX.Element {
  if (admin || canWrite()) return <Button {...props} admin={admin === true} disabled={disabled === true} />;
  return (
    <span title={w("needsUser")}>
      <Button {...props} disabled />
    </span>
  );
}

/** A text as one word of a shell. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export interface Command {
  name: string;
  curl: string;
  /** A `hanbeon` command that does the same; there may be none. */
  command?: string;
}

/** A menu with each action as a `curl` command and as a command line. `row`: the name of the row that it is for. */
export function Copies({ of, row }: { of: Command[]; row?: string }): JSX.Element | null {
  const copied = useSignal("");
  const copy = async (text: string): Promise<void> => {
    await navigator.clipboard.writeText(text);
    copied.value = text;
    setTimeout(() => (copied.value = ""), 1_500);
  };
  const one = (name: string, kind: string, text: string): JSX.Element => (
    <button
      type="button"
      class="btn plain"
      title={text}
      aria-label={`${[name, row].filter(Boolean).join(" ")}: ${kind}`}
      onClick={() => void copy(text)}
    >
      {copied.value === text ? w("copied") : kind}
    </button>
  );
  if (of.length === 0) return null;
  return (
    <details
      class={row === undefined ? "copies" : "copies small"}
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.open = false;
      }}
      onFocusOut={(event) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget.contains(to))) event.currentTarget.open = false;
      }}
    >
      {row === undefined ? (
        <summary class="btn plain">{w("copyAs")}</summary>
      ) : (
        <summary class="btn plain" aria-label={`${w("copyAs")} ${row}`} title={w("copyAs")}>
          <svg
            class="shape"
            viewBox="0 0 14 14"
            fill="none"
            stroke="currentColor"
            stroke-width="1.6"
            aria-hidden="true"
          >
            <path d="M5 5h7v7H5zM2 9V2h7" />
          </svg>
        </summary>
      )}
      <ul class="menu">
        {of.map((each) => (
          <li key={each.name}>
            <span>{each.name}</span>
            {one(each.name, "curl", each.curl)}
            {each.command !== undefined && one(each.name, "hanbeon", each.command)}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The name of a thing as the title of its page, with a way back to the list. */
export function Crumb({
  list,
  href,
  children,
}: {
  list: string;
  href: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <p class="crumb">
      <a href={href}>{list}</a> <span aria-hidden="true">›</span> {children}
    </p>
  );
}
