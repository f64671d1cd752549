// Pages live behind the hash, with their filters: an address can be shared, and no path of the server changes.
import { signal } from "@preact/signals";
import { link, type Place, placeOf } from "./address";

export { link };

const read = (): Place => placeOf(location.hash);
export const place = signal<Place>(read());
addEventListener("hashchange", () => (place.value = read()));

/** Change the filters of the present page without a new entry in the history. */
export function refine(query: Record<string, string>): void {
  history.replaceState(null, "", link(place.value.parts, query));
  place.value = read();
}

export const go = (parts: string[], query: Record<string, string> = {}): void => {
  location.hash = link(parts, query).slice(1);
};
