// A chart of at most two lines over time, with exact values on hover. Its data come from the database.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { clock } from "../lib/format";
import { language, theme, zone } from "../lib/preferences";
import { t } from "../lib/texts";

export interface Line {
  label: string;
  colour: "--accent" | "--bad" | "--faint";
  values: (number | null)[];
  dashed?: boolean;
}

interface Props {
  times: number[];
  lines: Line[];
  show: (value: number) => string;
  /** A logarithmic scale, for durations. */
  log?: boolean;
  label: string;
}

const HEIGHT = 180;
/** Durations that people count in, where powers of ten would be 16 min 40 s. */
const TICKS = [0.001, 0.01, 0.1, 1, 10, 60, 600, 3_600, 36_000, 86_400, 864_000];
const inTicks = {
  splits: (_: uPlot, __: number, least: number, most: number): number[] =>
    TICKS.filter((each) => each >= least && each <= most),
  filter: (_: uPlot, splits: number[]): number[] => splits,
};

export function Chart(props: Props): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const long = (props.times.at(-1) ?? 0) - (props.times[0] ?? 0) > 86_400;
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        scales: { y: props.log ? { distr: 3 } : { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
        axes: [
          { ...axis, size: 32, values: (_, all) => all.map((each) => clock(each * 1000, long)) },
          {
            ...axis,
            size: 64,
            ...(props.log ? { ...inTicks, grid: { ...axis.grid, filter: inTicks.filter } } : {}),
            values: (_, all) => all.map((each) => (each === null ? "" : props.show(each))),
          },
        ],
        series: [
          { value: (_, each) => (each === null ? "–" : clock(each * 1000, true)), label: t("when") },
          ...props.lines.map((line) => ({
            label: line.label,
            stroke: colour(line.colour),
            width: 2,
            dash: line.dashed ? [5, 4] : undefined,
            // A value between two gaps has no line.
            points: { show: props.log === true, size: 5, fill: colour(line.colour) },
            value: (_: uPlot, each: number | null) => (each === null ? "–" : props.show(each)),
          })),
        ],
        cursor: { y: false },
      },
      [props.times, ...props.lines.map((line) => line.values)],
      element,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [props.times, props.lines, theme.value, language.value, zone.value]);
  return <div class="chart" ref={place} role="img" aria-label={props.label} />;
}
