// Lists in pages: the first page stays fresh, older ones are read on demand, and all lists have the same frame.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { usePolled, type Loaded } from "./live";
import { Button, Failure, Panel, Waiting } from "./parts";

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export interface Paged<T> extends Loaded<Page<T>> {
  rows: T[];
  next: string | null | undefined;
  more: () => Promise<void>;
  /** Show rows that were changed: pages after the first are not read again. */
  change: (to: (row: T) => T) => void;
}

/** The rows that `search` finds, again from the first page when `key` changes. */
export function usePaged<T>(search: (cursor?: string | null) => Promise<Page<T>>, key: string, everyMs: number): Paged<T> {
  const older = useSignal<T[]>([]);
  const cursor = useSignal<string | null | undefined>(undefined);
  const loaded = usePolled(() => search(), key, everyMs);
  useEffect(() => {
    older.value = [];
    cursor.value = undefined;
  }, [key]);
  const next = cursor.value === undefined ? loaded.data?.next_cursor : cursor.value;
  const more = async (): Promise<void> => {
    const page = await search(next);
    older.value = [...older.value, ...page.items];
    cursor.value = page.next_cursor;
  };
  const change = (to: (row: T) => T): void => void (older.value = older.value.map(to));
  return { ...loaded, rows: [...(loaded.data?.items ?? []), ...older.value], next, more, change };
}

interface TableProps {
  class: string;
  /** The cells of the head. */
  head: ComponentChildren;
  /** The rows. */
  children: ComponentChildren;
}

/** A table that scrolls by itself where it is too wide. */
export function WideTable(props: TableProps): JSX.Element {
  return (
    <div class="wide">
      <table class={props.class}>
        <thead>
          <tr>{props.head}</tr>
        </thead>
        <tbody>{props.children}</tbody>
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
  if (of.rows.length === 0) return empty;
  return (
    <Panel>
      <WideTable {...table} />
      {below}
      {of.next && (
        <p class="center">
          <Button onClick={of.more}>{moreText}</Button>
        </p>
      )}
    </Panel>
  );
}
