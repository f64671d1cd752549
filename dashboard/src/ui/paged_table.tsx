// Lists in pages: the page in sight stays fresh, further ones are read on demand, and all lists have the same frame.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { type Loaded, useLoaded } from "../lib/live";
import { Button, Failure, Panel, Waiting } from "./parts";

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export interface Paged<T> extends Loaded<Page<T>> {
  rows: T[];
  next: string | null | undefined;
  more: () => Promise<void>;
  /** Show rows as they are now, or without those that are gone, until their page is read again. */
  change: (to: (row: T) => T[]) => void;
  body: RefObject<HTMLTableSectionElement | null>;
}

/**
 * The rows that `search` finds, again from the first page when `key` changes. However many pages are shown, each refresh
 * reads one, that in the middle of the window, and those behind it only if rows came or went. A list that stays `still`
 * is refreshed while it has one page, so that no row moves below the reader.
 */
export function usePaged<T>(
  search: (cursor: string | undefined, left?: AbortSignal) => Promise<Page<T>>,
  key: string,
  everyMs: number,
  { still = false } = {},
): Paged<T> {
  const shown = useSignal<{ key: string; pages: Page<T>[] }>({ key, pages: [] });
  const body = useRef<HTMLTableSectionElement>(null);
  const restarting = useRef(false);
  const pages = shown.value.key === key ? shown.value.pages : [];
  const wanted = useRef(key);
  wanted.current = key;
  const read = async (index: number, cursor?: string | null, left?: AbortSignal): Promise<Page<T>> => {
    const page = await search(cursor ?? undefined, left);
    if (wanted.current !== key || left?.aborted) return page;
    const kept = shown.peek().key === key ? shown.peek().pages : [];
    const [moved, following] = [kept[index] && kept[index].next_cursor !== page.next_cursor, kept.slice(index + 1)];
    shown.value = { key, pages: [...kept.slice(0, index), page, ...(page.next_cursor ? following : [])] };
    // Rows came or went: the next page begins elsewhere.
    if (moved && page.next_cursor && following.length > 0) await read(index + 1, page.next_cursor, left);
    return page;
  };
  const readOnly = async (left: AbortSignal): Promise<Page<T>> => {
    const restart = restarting.current;
    const [first] = pages;
    if (first && pages.length > 1 && !restart) return first;
    restarting.current = false;
    const page = await search(undefined, left);
    const extended = shown.peek().key === key && shown.peek().pages.length > 1;
    if (!left.aborted && (restart || !extended)) shown.value = { key, pages: [page] };
    return page;
  };
  const loaded = useLoaded(
    (left) => {
      if (still) return readOnly(left);
      const index = pageInSight(body.current, pages);
      return read(index, index === 0 ? undefined : pages[index - 1]?.next_cursor, left);
    },
    key,
    everyMs,
  );
  const refresh = (): void => {
    restarting.current = true;
    loaded.refresh();
  };
  const next = pages.at(-1)?.next_cursor;
  const more = async (): Promise<void> => void (await read(pages.length, next));
  const change = (to: (row: T) => T[]): void =>
    void (shown.value = { key, pages: pages.map((page) => ({ ...page, items: page.items.flatMap(to) })) });
  return { ...loaded, refresh, rows: pages.flatMap((page) => page.items), next, more, change, body };
}

/** Rows are of about one height: the place of the window in the table tells the row, and that its page. */
function pageInSight(body: HTMLTableSectionElement | null, pages: Page<unknown>[]): number {
  if (!body || pages.length < 2) return 0;
  const { top, height } = body.getBoundingClientRect();
  const count = pages.reduce((sum, page) => sum + page.items.length, 0);
  let row = Math.max(0, ((innerHeight / 2 - top) / height) * count);
  const found = pages.findIndex((page) => (row -= page.items.length) < 0);
  return found < 0 ? pages.length - 1 : found;
}

interface TableProps {
  class: string;
  /** The cells of the head. */
  head: ComponentChildren;
  /** The rows. */
  children: ComponentChildren;
  body?: RefObject<HTMLTableSectionElement | null>;
}

/** A table that scrolls by itself where it is too wide. */
export function WideTable(props: TableProps): JSX.Element {
  return (
    <div class="wide">
      <table class={props.class}>
        <thead>
          <tr>{props.head}</tr>
        </thead>
        <tbody ref={props.body}>{props.children}</tbody>
      </table>
    </div>
  );
}

interface PagedTableProps<T> extends TableProps {
  of: Paged<T>;
  /** In place of the table, if there is no row. */
  empty: JSX.Element;
  moreText: string;
  below?: ComponentChildren;
}

export function PagedTable<T>({ of, empty, moreText, below, ...table }: PagedTableProps<T>): JSX.Element {
  if (of.problem && !of.data) return <Failure problem={of.problem} />;
  if (!of.data) return <Waiting lines={6} />;
  if (of.rows.length === 0) return <Panel>{empty}</Panel>;
  return (
    <Panel>
      <WideTable {...table} body={of.body} />
      {below}
      {of.next && (
        <p class="center">
          <Button onClick={of.more}>{moreText}</Button>
        </p>
      )}
    </Panel>
  );
}
