// biome-ignore-all lint/a11y/noNoninteractiveElementToInteractiveRole: the options of a combobox are a list, too
// The command palette: one box to go to a page, a named object of a surface, to find a job, and to run commands.

import { SURFACES } from "hanbeon:surfaces";
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, Problem, session } from "../lib/api";
import { installationZone, otherZone, switchZone } from "../lib/format";
import { language, theme, viewerZone } from "../lib/preferences";
import { go } from "../lib/router";
import { named, type Page, type Title } from "../lib/surface";
import { t } from "../lib/texts";
import { words } from "../lib/words";

const w = words(
  {
    openJob: "Open job {0}",
    findJobs: "Jobs whose id begins with {0}",
    searchJobs: "Jobs with “{0}” in their arguments",
    toDark: "Dark theme",
    toLight: "Light theme",
    timesIn: "Times in {0}",
    nothing: "Nothing found.",
  },
  {
    openJob: "작업 {0} 열기",
    findJobs: "ID가 {0}(으)로 시작하는 작업",
    searchJobs: "인자에 “{0}”이(가) 있는 작업",
    toDark: "어두운 테마",
    toLight: "밝은 테마",
    timesIn: "{0} 시간으로 보기",
    nothing: "찾은 것이 없습니다.",
  },
);
const PAGE: Title = { en: "page", ko: "페이지" };
const COMMAND: Title = { en: "command", ko: "명령" };
const JOB: Title = { en: "job", ko: "작업" };
const MOST = 12;
const FRESH_MS = 30_000;

export interface Choice {
  kind: Title;
  text: string;
  run: () => void;
}

/** Named objects of the installation, asked for when the box is opened. What may not be read is left out. */
async function objects(): Promise<Choice[]> {
  const lists = SURFACES.map(async ({ finds }): Promise<Choice[]> => {
    if (!finds) return [];
    try {
      const found = await finds.find();
      return found.map(({ text, parts, query }) => ({ kind: finds.kind, text, run: () => go(parts, query) }));
    } catch (error) {
      if (error instanceof Problem) return [];
      throw error;
    }
  });
  return (await Promise.all(lists)).flat();
}

function commands(): Choice[] {
  const made = (text: string, run: () => void): Choice => ({ kind: COMMAND, text, run });
  return [
    made(
      w(theme.value === "dark" ? "toLight" : "toDark"),
      () => (theme.value = theme.value === "dark" ? "light" : "dark"),
    ),
    made(t("languageName"), () => (language.value = language.value === "en" ? "ko" : "en")),
    ...(installationZone() === viewerZone ? [] : [made(w("timesIn", otherZone()), switchZone)]),
    made(t("api"), () => location.assign("/docs")),
    ...(session.value?.login
      ? [made(t("logOut"), () => void call("DELETE /api/session").then(() => (session.value = null)))]
      : []),
  ];
}

export function jobsFor(text: string): Choice[] {
  const id = text.toLowerCase();
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id))
    return [{ kind: JOB, text: w("openJob", id), run: () => go(["jobs", id]) }];
  const found: Choice[] = [];
  if (/^[0-9a-f-]{4,}$/.test(id)) found.push({ kind: JOB, text: w("findJobs", id), run: () => go(["jobs"], { id }) });
  if (text.length > 1) found.push({ kind: JOB, text: w("searchJobs", text), run: () => go(["jobs"], { text }) });
  return found;
}

export function Palette({ pages }: { pages: Page[] }): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const text = useSignal("");
  const open = useSignal(false);
  const at = useSignal(0);
  const things = useSignal<Choice[]>([]);
  const asked = useRef(0);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        input.current?.focus();
        input.current?.select();
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const show = (): void => {
    open.value = true;
    if (Date.now() - asked.current < FRESH_MS) return;
    asked.current = Date.now();
    void objects().then((found) => (things.value = found));
  };
  const wanted = text.value.trim();
  const low = wanted.toLowerCase();
  const matching = (each: Choice & { also?: string }): boolean =>
    !low || each.text.toLowerCase().includes(low) || (each.also ?? "").includes(low);
  const choices: Choice[] = open.value
    ? [
        ...pages
          .map((each): Choice & { also: string } => ({
            kind: PAGE,
            text: named(each.title),
            also: each.title.en.toLowerCase(),
            run: () => go(each.name ? [each.name] : []),
          }))
          .filter(matching),
        ...(low ? things.value.filter(matching) : []),
        ...commands().filter((each) => low && matching(each)),
        ...jobsFor(wanted),
      ].slice(0, MOST)
    : [];
  const chosen = Math.min(at.value, choices.length - 1);
  const take = (choice: Choice | undefined): void => {
    if (!choice) return;
    choice.run();
    text.value = "";
    at.value = 0;
    input.current?.blur();
  };
  const key = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      at.value = (chosen + step + choices.length) % Math.max(1, choices.length);
    } else if (event.key === "Escape") input.current?.blur();
  };
  return (
    <form
      class="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        take(choices[chosen]);
      }}
    >
      <input
        ref={input}
        role="combobox"
        aria-expanded={open.value}
        aria-controls="palette"
        aria-autocomplete="list"
        aria-activedescendant={open.value && choices.length ? `choice-${chosen}` : undefined}
        placeholder={t("find")}
        aria-label={t("find")}
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={key}
        onFocus={show}
        onBlur={() => (open.value = false)}
      />
      <kbd>Ctrl K</kbd>
      {open.value && (
        <ul class="menu choices" id="palette" role="listbox" aria-label={t("find")}>
          {choices.map((each, index) => (
            <li
              key={`${each.kind.en} ${each.text}`}
              id={`choice-${index}`}
              role="option"
              aria-selected={index === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                take(each);
              }}
              onMouseEnter={() => (at.value = index)}
            >
              <span>{each.text}</span>
              <small>{named(each.kind)}</small>
            </li>
          ))}
          {choices.length === 0 && (
            <li role="option" aria-selected="false" aria-disabled="true">
              {w("nothing")}
            </li>
          )}
        </ul>
      )}
    </form>
  );
}
