// Choices of the viewer, kept in the browser: language, theme and time zone.
import { effect, type Signal, signal } from "@preact/signals";

function kept<T extends string>(name: string, choices: readonly T[], initial: T): Signal<T> {
  const stored = read(name);
  const value = signal<T>(choices.find((each) => each === stored) ?? initial);
  effect(() => write(name, value.value));
  return value;
}

// A browser may forbid storage; the page works without it.
function read(name: string): string | null {
  try {
    return localStorage.getItem(`hanbeon.${name}`);
  } catch {
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`hanbeon.${name}`, value);
  } catch {
    /* forbidden */
  }
}

export type Language = "en" | "ko";
const dark = typeof matchMedia === "function" && matchMedia("(prefers-color-scheme: dark)").matches;
const korean = navigator.language.toLowerCase().startsWith("ko");

export const language = kept<Language>("language", ["en", "ko"], korean ? "ko" : "en");
export const theme = kept<"light" | "dark">("theme", ["light", "dark"], dark ? "dark" : "light");
export const zone = kept<"viewer" | "installation">("zone", ["viewer", "installation"], "viewer");
/** The time zone of the browser. */
export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export interface View {
  name: string;
  query: string;
}

export const views = signal<View[]>(parsedViews());
effect(() => write("views", JSON.stringify(views.value)));

function parsedViews(): View[] {
  try {
    const found: unknown = JSON.parse(read("views") ?? "[]");
    return Array.isArray(found)
      ? found.filter((each) => typeof each?.name === "string" && typeof each?.query === "string")
      : [];
  } catch {
    return [];
  }
}
