// Queues of surfaces: which of them users have no jobs of their own in, and the names of the objects that others belong to.

import { SURFACES } from "hanbeon:surfaces";
import { signal } from "@preact/signals";
import { Problem } from "./api";

const owners = signal<Readonly<Record<string, string>>>({});
const asked = new Set<string>();

/** True for a queue that a surface fills with jobs of its own. */
export const isInternal = (queue: string): boolean =>
  SURFACES.some(({ queues }) => queues?.internal?.some((each) => queue === each || queue.startsWith(`${each}:`)));

/** The name of the object that a queue belongs to; undefined until it is known, and for other queues. */
export const ownerName = (queue: string): string | undefined => owners.value[queue];

/** Ask for it, once. */
export async function askOwner(queue: string): Promise<void> {
  const named = SURFACES.map(({ queues }) => queues?.named).find((each) => each && queue.startsWith(each.prefix));
  if (!named || asked.has(queue)) return;
  asked.add(queue);
  try {
    const name = await named.find(queue.slice(named.prefix.length));
    owners.value = { ...owners.peek(), [queue]: name };
  } catch (error) {
    // Deleted, or nothing for this token: the name of the queue says enough.
    if (!(error instanceof Problem)) throw error;
  }
}
