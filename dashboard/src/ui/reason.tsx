// A reason in words, in which each job leads to its page.
import type { JSX } from "preact";
import { short } from "../lib/format";
import { link } from "../lib/router";

const IDS = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/;

/** Jobs have their names, if `nameOf` knows them. */
export function Reason({ text, nameOf }: { text: string; nameOf?: (id: string) => string | undefined }): JSX.Element {
  const parts = text.split(IDS).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <a key={index} href={link(["jobs", part])} title={part}>
        {nameOf?.(part) ?? <code>{short(part)}</code>}
      </a>
    ),
  );
  return <>{parts}</>;
}
