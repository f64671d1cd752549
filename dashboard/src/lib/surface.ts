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
  /** True once there is something on it: until then the navigation leaves it out, and search finds it. */
  used?: () => Promise<boolean>;
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

/** Queues that a surface fills itself. */
export interface OwnQueues {
  /** Their names, or the beginnings of those that an id follows: users have no jobs of their own there. */
  internal?: string[];
  /** Queues of users' objects: the beginning of their names, and the name of the object whose id follows. */
  named?: { prefix: string; find: (id: string) => Promise<string> };
}

export interface Surface {
  pages: Page[];
  queues?: OwnQueues;
  maker?: Maker;
  finds?: Finds;
  /** What it shows on the first page. */
  home?: Part;
}
