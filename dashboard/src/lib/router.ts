// Pages live behind the hash, with their filters: an address can be shared, and no path of the server changes.
import { signal } from "@preact/signals";

export interface Place {
  parts: string[];
  query: URLSearchParams;
}

export const place = signal<Place>(read());
addEventListener("hashchange", () => (place.value = read()));

function read(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function link(parts: string[], query: Record<string, string> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  const text = new URLSearchParams(given).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Change the filters of the present page without a new entry in the history. */
export function refine(query: Record<string, string>): void {
  history.replaceState(null, "", link(place.value.parts, query));
  place.value = read();
}

export const go = (parts: string[], query: Record<string, string> = {}): void => {
  location.hash = link(parts, query).slice(1);
};
