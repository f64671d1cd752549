// What a surface adds to the page, declared in the `surface.ts` of its folder: its pages are loaded when they are opened.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { type Language, language } from "./preferences";

type Nothing = Record<string, never>;

/** A component in a chunk of its own. */
export interface Part<P = Nothing> {
  /** Undefined until it is loaded, null if it cannot be. */
  component: Signal<ComponentType<P> | null | undefined>;
  load: () => Promise<void>;
}

export function part<P = Nothing>(imported: () => Promise<ComponentType<P>>): Part<P> {
  const component = signal<ComponentType<P> | null | undefined>(undefined);
  const load = async (): Promise<void> => {
    if (component.peek()) return;
    component.value = undefined;
    component.value = await imported().catch((error: unknown) => {
      reportError(error);
      return null;
    });
  };
  return { component, load };
}

export type Title = Record<Language, string>;

export const named = (title: Title): string => title[language.value];

export const GROUPS = ["work", "automation", "system"] as const;

export interface Page {
  /** The first part of its address; "" is the page that is shown first. */
  name: string;
  title: Title;
  group: (typeof GROUPS)[number];
  /** Its place in its group of the navigation. */
  order: number;
  list: Part;
  /** The page of one of its objects; without it, `list` shows them, too. */
  one?: Part<{ id: string }>;
}

/** Named objects that the search box finds. */
export interface Finds {
  kind: Title;
  find: () => Promise<{ text: string; parts: string[]; query?: Record<string, string> }[]>;
}

/** What made the jobs that the API shows below `/api/<of>/<id>`: by that id, its name and the id of its page. */
export interface Maker {
  of: string;
  find: (id: string) => Promise<[name: string, id: string] | null>;
}

export interface Surface {
  pages: Page[];
  maker?: Maker;
  finds?: Finds;
  /** What it shows on the first page. */
  home?: Part;
}
