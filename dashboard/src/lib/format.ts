// Numbers, durations and times, in the viewer's language and the zone in force.
import { session } from "./api";
import { language, viewerZone, zone } from "./preferences";
import { t } from "./texts";

export const number = (value: number, digits = 0): string =>
  new Intl.NumberFormat(language.value, { maximumFractionDigits: digits }).format(value);

/** A number with its unit; Korean ones follow it without a space. */
const withUnit = (value: string | number, unit: string): string =>
  `${value}${language.value === "ko" ? "" : " "}${unit}`;

/** A duration in seconds, in its two largest units. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 0.001) return "0 ms";
  if (seconds < 1) return `${number(seconds * 1000, seconds < 0.01 ? 1 : 0)} ms`;
  if (seconds < 60) return withUnit(number(seconds, seconds < 10 ? 1 : 0), t("s"));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), t("d")],
    [Math.floor(seconds / 3_600) % 24, t("h")],
    [Math.floor(seconds / 60) % 60, t("min")],
    [Math.floor(seconds) % 60, t("s")],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => withUnit(value, unit))
    .join(" ");
}

/** How long ago, in its largest unit alone. */
export function ago(moment: string | null | undefined): string {
  const seconds = since(moment);
  if (seconds === null) return "–";
  const unit = seconds < 60 ? 1 : seconds < 3_600 ? 60 : seconds < 86_400 ? 3_600 : 86_400;
  return t("ago", duration(Math.max(1, Math.floor(seconds / unit)) * unit));
}

export const since = (moment: string | null | undefined): number | null =>
  moment ? (Date.now() - Date.parse(moment)) / 1000 : null;

/** The time zone of the installation, by its name. */
export const installationZone = (): string => session.value?.timezone ?? viewerZone;

/** The time zone in force: that of the viewer or of the installation. */
export const zoneName = (): string => (zone.value === "installation" ? installationZone() : viewerZone);

export const otherZone = (): string => (zone.value === "installation" ? viewerZone : installationZone());
export const switchZone = (): void => void (zone.value = zone.value === "installation" ? "viewer" : "installation");

/** A wall-clock time of the installation with its offset, as an example of what a field takes. */
export function exampleTime(wall: string): string {
  const parts = new Intl.DateTimeFormat("en", {
    timeZone: installationZone(),
    timeZoneName: "longOffset",
  }).formatToParts(new Date(`${wall}Z`));
  const offset = parts.find((each) => each.type === "timeZoneName")?.value.slice("GMT".length);
  return wall + offset;
}

/** The clock that a moment is written in, where the zone in force shows another time. */
export function clockThere(moment: string): string {
  const there = moment.slice(11, 16);
  return there === clock(moment) ? "" : `${there} UTC${moment.slice(-6)}`;
}

export function time(moment: string | null | undefined): string {
  if (!moment) return "–";
  return new Intl.DateTimeFormat(language.value, {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: zoneName(),
  }).format(new Date(moment));
}

export function clock(moment: number | string, withDay = false): string {
  const day: Intl.DateTimeFormatOptions = withDay ? { month: "numeric", day: "numeric" } : {};
  return new Intl.DateTimeFormat(language.value, {
    ...day,
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: zoneName(),
  }).format(new Date(moment));
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** The name of a queue; the id in that of an office or a listener is as short as other ids. */
export const queueName = (name: string): string => name.replace(UUID, (id) => short(id));
export const short = (id: string): string => (id.length > 14 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id);
