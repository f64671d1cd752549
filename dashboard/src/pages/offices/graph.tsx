// The graph of an office with live states: pan, zoom, find, follow what runs, and the path that decides when all is done.
import { useSignal } from "@preact/signals";
import type { JSX, TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { duration, number } from "../../lib/format";
import { language, theme } from "../../lib/preferences";
import { go } from "../../lib/router";
import { t } from "../../lib/texts";
import { Shape, StateMark } from "../../ui/parts";
import { durations, isRunning, type OfficeData, type OfficeGraph, type OfficeJob, UNFINISHED } from "./data";
import { type Layout, type Link, layoutOf, longestPath, neighbours } from "./graph_layout";
import {
  clamped,
  type Drawn,
  draw,
  fitted,
  nodeAt,
  type Palette,
  palette,
  type Scene,
  toGraph,
  type View,
} from "./graph_view";
import { SelectedJob } from "./selected_job";
import { STATE_OF, w } from "./texts";

const PAN_PX = 80;
const EDGE_PX = 60;
const ZOOM_STEP = 1.25;
const PAN: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Names can be read from here on. */
const NEAR = 0.6;

interface Shown {
  ids: string[];
  links: Link[];
  layout: Layout;
}

/** Jobs that are connected with an unfinished one. */
function unfinishedParts(graph: OfficeGraph): Set<string> {
  const { before, after } = neighbours([...graph.jobs.keys()], graph.links);
  const found = new Set([...graph.jobs.values()].filter((job) => UNFINISHED.has(job.status)).map((job) => job.id));
  const open = [...found];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const each of [...(before.get(id) ?? []), ...(after.get(id) ?? [])]) {
      if (!found.has(each)) {
        found.add(each);
        open.push(each);
      }
    }
  }
  return found;
}

export function OfficeGraphView({
  office,
  graph,
  data,
}: {
  office: string;
  graph: OfficeGraph;
  data: OfficeData;
}): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<View | null>(null);
  const colours = useRef<Palette | null>(null);
  const frame = useRef(0);
  const following = useSignal(false);
  const withPath = useSignal(true);
  const unfinishedOnly = useSignal(false);
  const selected = useSignal<string | null>(null);

  const part = unfinishedOnly.value ? [...unfinishedParts(graph)].sort().join() : "";
  const shown = useMemo<Shown>(() => {
    const only = unfinishedOnly.value ? unfinishedParts(graph) : null;
    const ids = [...graph.jobs.keys()].filter((id) => !only || only.has(id));
    const kept = only ? graph.links.filter((each) => only.has(each.from) && only.has(each.to)) : graph.links;
    return { ids, links: kept, layout: layoutOf(ids, kept) };
  }, [graph.shape, part]);
  const path = useMemo(() => pathOf(graph, shown), [shown, data.moves.value]);

  const scene: Scene = useMemo(() => {
    const nodes = new Map<string, Drawn>();
    for (const id of shown.ids) {
      const job = graph.jobs.get(id);
      if (job) nodes.set(id, { id, name: job.name, detail: job.role ?? "", state: STATE_OF[job.status] });
    }
    const ids = withPath.value ? path.ids : [];
    return {
      layout: shown.layout,
      nodes,
      links: shown.links,
      path: new Set(ids),
      pathLinks: new Set(ids.slice(1).map((id, index) => `${ids[index]} ${id}`)),
      selected: selected.value,
    };
  }, [shown, path, withPath.value, selected.value, data.moves.value]);
  const latest = useRef(scene);
  latest.current = scene;

  const redraw = (): void => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const element = canvas.current;
      if (!element) return;
      view.current ??= fitted(latest.current.layout, element.clientWidth, element.clientHeight);
      colours.current ??= palette(element);
      draw(element, latest.current, view.current, colours.current);
      element.dataset.drawn = String(latest.current.nodes.size);
    });
  };
  /** Move the view only as far as needed to read a job. */
  const reveal = (id: string): void => {
    const at = scene.layout.at.get(id);
    const element = canvas.current;
    if (!at || !element || !view.current) return;
    const zoom = Math.max(view.current.zoom, NEAR);
    const inSight =
      Math.abs(at.x - view.current.x) * zoom < element.clientWidth / 2 - EDGE_PX &&
      Math.abs(at.y - view.current.y) * zoom < element.clientHeight / 2 - EDGE_PX / 2;
    if (!inSight || view.current.zoom < zoom) view.current = { ...at, zoom };
    redraw();
  };
  const fit = (): void => {
    const element = canvas.current;
    if (element) view.current = fitted(scene.layout, element.clientWidth, element.clientHeight);
    redraw();
  };
  const zoomBy = (factor: number): void => {
    if (view.current) view.current = { ...view.current, zoom: clamped(view.current.zoom * factor) };
    redraw();
  };
  const select = (id: string | null): void => {
    selected.value = id;
    if (id) following.value = false;
  };

  useEffect(() => {
    view.current = null;
  }, [shown]);
  useEffect(() => {
    colours.current = null;
    redraw();
  }, [theme.value]);
  useEffect(redraw, [scene, language.value]);
  useEffect(() => {
    const running = [...graph.jobs.values()]
      .filter((job) => isRunning(job.status))
      .map((job) => scene.layout.at.get(job.id));
    const places = running.filter((at) => at !== undefined);
    if (!following.value || places.length === 0 || !view.current || !canvas.current) return;
    const mean = (pick: "x" | "y"): number => places.reduce((sum, at) => sum + at[pick], 0) / places.length;
    const whole = fitted(scene.layout, canvas.current.clientWidth, canvas.current.clientHeight);
    // A graph that can be read as a whole need not move.
    if (whole.zoom >= NEAR) return;
    view.current = { x: mean("x"), y: mean("y"), zoom: Math.max(view.current.zoom, NEAR) };
    redraw();
  }, [data.moves.value, following.value]);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const seen = new ResizeObserver(redraw);
    seen.observe(element);
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      if (!view.current) return;
      const box = element.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      const point = toGraph(view.current, box.width, box.height, x, y);
      const zoom = clamped(view.current.zoom * Math.exp(-event.deltaY / 300));
      view.current = { x: point.x - (x - box.width / 2) / zoom, y: point.y - (y - box.height / 2) / zoom, zoom };
      following.value = false;
      redraw();
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      seen.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, []);

  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const dragged = useRef(0);
  const press = (event: TargetedPointerEvent<HTMLCanvasElement>): void => {
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    dragged.current = 0;
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    const before = pointers.current.get(event.pointerId);
    if (!before || !view.current) return;
    const others = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const now = { x: event.clientX, y: event.clientY };
    const other = others[0];
    if (other) {
      const distance = (at: { x: number; y: number }): number => Math.hypot(at.x - other.x, at.y - other.y) || 1;
      view.current = { ...view.current, zoom: clamped((view.current.zoom * distance(now)) / distance(before)) };
    } else {
      const { zoom } = view.current;
      view.current = {
        x: view.current.x - (now.x - before.x) / zoom,
        y: view.current.y - (now.y - before.y) / zoom,
        zoom,
      };
    }
    dragged.current += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (dragged.current > 4) following.value = false;
    pointers.current.set(event.pointerId, now);
    redraw();
  };
  const release = (event: PointerEvent): void => {
    const held = pointers.current.delete(event.pointerId);
    if (!held || dragged.current > 4 || !view.current || !canvas.current) return;
    const box = canvas.current.getBoundingClientRect();
    select(
      nodeAt(scene, toGraph(view.current, box.width, box.height, event.clientX - box.left, event.clientY - box.top)),
    );
  };

  const sides = useMemo(() => neighbours(shown.ids, shown.links), [shown]);
  const step = (key: string): string | null => {
    const here = selected.value;
    const at = here ? scene.layout.at.get(here) : undefined;
    if (!here || !at) return path.ids[0] ?? shown.ids[0] ?? null;
    const near = (ids: string[]): string | null => {
      const score = (id: string): number => Math.abs((scene.layout.at.get(id)?.y ?? Infinity) - at.y);
      return [...ids].sort((a, b) => score(a) - score(b))[0] ?? null;
    };
    if (key === "ArrowRight") return near(sides.after.get(here) ?? []);
    if (key === "ArrowLeft") return near(sides.before.get(here) ?? []);
    const down = key === "ArrowDown";
    const column = shown.ids.filter((id) => {
      const each = scene.layout.at.get(id);
      return each && Math.abs(each.x - at.x) < 90 && (down ? each.y > at.y : each.y < at.y);
    });
    return near(column);
  };
  const key = (event: KeyboardEvent): void => {
    const arrow = event.key.startsWith("Arrow");
    if (arrow && event.shiftKey && view.current) {
      const [x = 0, y = 0] = PAN[event.key] ?? [];
      const pixels = PAN_PX / view.current.zoom;
      view.current = { ...view.current, x: view.current.x + x * pixels, y: view.current.y + y * pixels };
      following.value = false;
      redraw();
    } else if (arrow) {
      const next = step(event.key);
      if (next) {
        select(next);
        reveal(next);
      }
    } else if (event.key === "+" || event.key === "=") zoomBy(ZOOM_STEP);
    else if (event.key === "-") zoomBy(1 / ZOOM_STEP);
    else if (event.key === "0") fit();
    else if (event.key === "Enter" && selected.value) go(["jobs", selected.value]);
    else if (event.key === "Escape") select(null);
    else return;
    event.preventDefault();
  };
  const find = (text: string): void => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return;
    const found = shown.ids.find(
      (id) => id.startsWith(wanted) || graph.jobs.get(id)?.name.toLowerCase().includes(wanted),
    );
    if (found) {
      select(found);
      reveal(found);
    }
  };
  const chosen: OfficeJob | undefined = selected.value ? graph.jobs.get(selected.value) : undefined;
  return (
    <>
      <div class="graphtools">
        <input
          class="small"
          placeholder={w("findNode")}
          aria-label={w("findNode")}
          onChange={(event) => find(event.currentTarget.value)}
        />
        <Toggle on={following.value} press={() => (following.value = !following.value)} text={w("followRunning")} />
        <Toggle on={withPath.value} press={() => (withPath.value = !withPath.value)} text={w("critical")} />
        <Toggle
          on={unfinishedOnly.value}
          press={() => (unfinishedOnly.value = !unfinishedOnly.value)}
          text={w("unfinishedOnly")}
        />
        <span class="segments">
          <button type="button" aria-label={w("zoomOut")} title={w("zoomOut")} onClick={() => zoomBy(1 / ZOOM_STEP)}>
            −
          </button>
          <button type="button" onClick={fit}>
            {w("fit")}
          </button>
          <button type="button" aria-label={w("zoomIn")} title={w("zoomIn")} onClick={() => zoomBy(ZOOM_STEP)}>
            +
          </button>
        </span>
      </div>
      <div class="graphbox">
        {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: the canvas takes arrow keys and describes itself */}
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-label={w("canvas", number(shown.ids.length))}
          onPointerDown={press}
          onPointerMove={move}
          onPointerUp={release}
          onPointerCancel={(event) => pointers.current.delete(event.pointerId)}
          onDblClick={() => void (selected.value && go(["jobs", selected.value]))}
          onKeyDown={key}
        />
        <aside aria-live="polite">
          {chosen ? (
            <SelectedJob
              key={chosen.id}
              office={office}
              job={chosen}
              before={sides.before.get(chosen.id)?.length ?? 0}
              after={sides.after.get(chosen.id)?.length ?? 0}
              nameOf={(id) => graph.jobs.get(id)?.name}
              refresh={data.refresh}
            />
          ) : (
            <Runners
              graph={graph}
              choose={(id) => {
                select(id);
                reveal(id);
              }}
            />
          )}
        </aside>
      </div>
      <div class="graphfoot">
        {withPath.value && path.ids.length > 1 && <span class="pathtext">{path.words}</span>}
        <Legend graph={graph} />
      </div>
    </>
  );
}

function pathOf(graph: OfficeGraph, shown: Shown): { ids: string[]; words: string } {
  const seconds = durations(graph);
  const isOpen = (id: string): boolean => UNFINISHED.has(graph.jobs.get(id)?.status ?? "done");
  const open = shown.ids.some(isOpen);
  const ids = longestPath(shown.ids, shown.links, seconds, (id) => !open || isOpen(id));
  const total = ids.reduce((sum, id) => sum + seconds(id), 0);
  const left = ids.filter(isOpen).reduce((sum, id) => {
    const job = graph.jobs.get(id);
    const lasted = job && isRunning(job.status) && job.began !== null ? (Date.now() - job.began) / 1000 : 0;
    return sum + Math.max(0, seconds(id) - lasted);
  }, 0);
  const count = number(ids.length);
  return {
    ids,
    words: open
      ? w("criticalSays", count, duration(total), duration(left))
      : w("criticalEnded", count, duration(total)),
  };
}

function Toggle({ on, press, text }: { on: boolean; press: () => void; text: string }): JSX.Element {
  return (
    <button type="button" class="btn plain" aria-pressed={on} onClick={press}>
      {text}
    </button>
  );
}

/** What runs now, until a job is chosen. */
function Runners({ graph, choose }: { graph: OfficeGraph; choose: (id: string) => void }): JSX.Element {
  const running = [...graph.jobs.values()].filter((job) => isRunning(job.status));
  return (
    <>
      <h3>{t("runningNow")}</h3>
      {running.length === 0 && <p class="faint">{w("nothingRuns")}</p>}
      <ul class="runners">
        {running.slice(0, 50).map((job) => (
          <li key={job.id}>
            <button type="button" onClick={() => choose(job.id)}>
              <span class="state running">
                <Shape state="running" />
              </span>
              <span class="clip">{job.name}</span>
            </button>
          </li>
        ))}
      </ul>
      <p class="faint">{w("nothingSelected")}</p>
      <p class="faint">{w("graphHint")}</p>
    </>
  );
}

function Legend({ graph }: { graph: OfficeGraph }): JSX.Element {
  const counts = new Map<string, number>();
  for (const job of graph.jobs.values()) counts.set(STATE_OF[job.status], (counts.get(STATE_OF[job.status]) ?? 0) + 1);
  return (
    <span class="legend">
      {(["pending", "ready", "running", "succeeded", "failed", "cancelled"] as const)
        .filter((state) => counts.get(state))
        .map((state) => (
          <span key={state}>
            <StateMark state={state} /> {number(counts.get(state) ?? 0)}
          </span>
        ))}
    </span>
  );
}
