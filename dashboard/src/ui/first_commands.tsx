// Commands for a newcomer to copy: they work as printed, against this server or its database.
import type { ComponentChildren, JSX } from "preact";
import { call, isAdmin } from "../lib/api";
import { useLoaded } from "../lib/live";
import { quoted } from "./act";
import { Empty } from "./parts";

export interface FirstCommands {
  worker: string;
  enqueue: string;
}

export function useFirstCommands(): FirstCommands {
  // The address of the database is among the settings, which are for admins.
  const { data } = useLoaded(
    async (left) => (isAdmin() ? (await call("GET /api/engine/settings", {}, left)).items : []),
    String(isAdmin()),
    3_600_000,
    null,
  );
  const database = data?.find((each) => each.name === "database_url")?.value;
  const option = typeof database === "string" ? ` --database ${quoted(database)}` : "";
  return {
    worker: `hanbeon worker --app jobs:app${option}`,
    enqueue: `hanbeon enqueue --server ${location.origin} --wait greet name=Ada`,
  };
}

/** An empty page that one of these commands fills. */
export function EmptyUntil({ of, children }: { of: keyof FirstCommands; children: ComponentChildren }): JSX.Element {
  return <Empty command={useFirstCommands()[of]}>{children}</Empty>;
}
