// biome-ignore-all lint/style/noNonNullAssertion: indices and ids come from the lists that they are looked up in
// Draws a graph on a canvas: only what is in sight, and boxes without words where they could not be read.
import type { State } from "../../lib/api";
import { type Layout, type Link, NODE, type Point } from "./graph_layout";

export interface View {
  /** The point of the graph in the middle of the canvas, and pixels per unit. */
  x: number;
  y: number;
  zoom: number;
}

export interface Drawn {
  id: string;
  name: string;
  detail: string;
  state: State;
}

export interface Scene {
  layout: Layout;
  nodes: Map<string, Drawn>;
  links: Link[];
  path: ReadonlySet<string>;
  /** Links of the path, as `from to`. */
  pathLinks: ReadonlySet<string>;
  selected: string | null;
}

const READABLE = 0.42;
const MARGIN_PX = 20;
const ZOOM = { least: 0.02, most: 2.5 };
const COLOURS = [
  "panel",
  "line",
  "ink",
  "soft",
  "faint",
  "accent",
  "accent-soft",
  "pending",
  "ready",
  "running",
  "succeeded",
  "failed",
  "cancelled",
] as const;
type Colour = (typeof COLOURS)[number];
const NAMED: Partial<Record<Colour, string>> = { pending: "held", succeeded: "ok", failed: "bad", cancelled: "off" };

export type Palette = Record<Colour, string> & { font: string };

/** The colours of the present theme. */
export function palette(element: Element): Palette {
  const style = getComputedStyle(element);
  const found = Object.fromEntries(
    COLOURS.map((each) => [each, style.getPropertyValue(`--${NAMED[each] ?? each}`).trim()]),
  );
  // biome-ignore lint/plugin: it has an entry for each of COLOURS
  return { ...found, font: style.fontFamily } as Palette;
}

export const clamped = (zoom: number): number => Math.min(ZOOM.most, Math.max(ZOOM.least, zoom));

export function fitted(layout: Layout, width: number, height: number): View {
  const zoom = Math.min(1, (width - 2 * MARGIN_PX) / layout.width, (height - 2 * MARGIN_PX) / layout.height);
  return { x: layout.width / 2, y: layout.height / 2, zoom: clamped(zoom) };
}

export const toGraph = (view: View, width: number, height: number, x: number, y: number): Point => ({
  x: view.x + (x - width / 2) / view.zoom,
  y: view.y + (y - height / 2) / view.zoom,
});

export function nodeAt(scene: Scene, point: Point): string | null {
  for (const [id, at] of scene.layout.at) {
    if (Math.abs(at.x - point.x) <= NODE.width / 2 && Math.abs(at.y - point.y) <= NODE.height / 2) return id;
  }
  return null;
}

export function draw(canvas: HTMLCanvasElement, scene: Scene, view: View, colours: Palette): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  const scale = view.zoom * ratio;
  context.setTransform(scale, 0, 0, scale, canvas.width / 2 - view.x * scale, canvas.height / 2 - view.y * scale);
  const first = toGraph(view, width, height, 0, 0);
  const last = toGraph(view, width, height, width, height);
  drawLinks(context, scene, view, colours, first, last);
  for (const [id, at] of scene.layout.at) {
    const [left, top] = [at.x - NODE.width / 2, at.y - NODE.height / 2];
    if (left > last.x || left + NODE.width < first.x || top > last.y || top + NODE.height < first.y) continue;
    const node = scene.nodes.get(id);
    if (node) drawNode(context, node, left, top, view.zoom, colours, scene);
  }
}

function drawLinks(
  context: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  colours: Palette,
  first: Point,
  last: Point,
): void {
  for (const onPath of [false, true]) {
    context.beginPath();
    for (const link of scene.links) {
      const { from, to } = link;
      if (scene.pathLinks.has(`${from} ${to}`) !== onPath) continue;
      const [start, end] = [scene.layout.at.get(from), scene.layout.at.get(to)];
      if (!start || !end) continue;
      const way = [
        { x: start.x + NODE.width / 2, y: start.y },
        ...(scene.layout.bends.get(link) ?? []),
        { x: end.x - NODE.width / 2, y: end.y },
      ];
      if (way.every((at) => at.x < first.x) || way.every((at) => at.x > last.x)) continue;
      if (way.every((at) => at.y < first.y) || way.every((at) => at.y > last.y)) continue;
      context.moveTo(way[0]!.x, way[0]!.y);
      for (let index = 1; index < way.length; index++) {
        const [a, b] = [way[index - 1]!, way[index]!];
        // A bend is as wide as a node: straight along the node's column, curved between columns.
        const from = { x: index > 1 ? a.x + NODE.width / 2 : a.x, y: a.y };
        const to = { x: index < way.length - 1 ? b.x - NODE.width / 2 : b.x, y: b.y };
        context.lineTo(from.x, from.y);
        const middle = (from.x + to.x) / 2;
        context.bezierCurveTo(middle, from.y, middle, to.y, to.x, to.y);
      }
      if (view.zoom >= READABLE) {
        const tip = way.at(-1)!;
        context.moveTo(tip.x - 6, tip.y - 3.5);
        context.lineTo(tip.x, tip.y);
        context.lineTo(tip.x - 6, tip.y + 3.5);
      }
    }
    context.strokeStyle = onPath ? colours.accent : colours.faint;
    context.globalAlpha = onPath ? 1 : 0.55;
    context.lineWidth = (onPath ? 2.5 : 1) / Math.max(view.zoom, 0.4);
    context.stroke();
    context.globalAlpha = 1;
  }
}

function drawNode(
  context: CanvasRenderingContext2D,
  node: Drawn,
  left: number,
  top: number,
  zoom: number,
  colours: Palette,
  scene: Scene,
): void {
  const colour = colours[node.state];
  const selected = scene.selected === node.id;
  context.beginPath();
  context.roundRect(left, top, NODE.width, NODE.height, 8);
  if (zoom < READABLE) {
    context.fillStyle = colour;
    context.globalAlpha = node.state === "running" || node.state === "failed" ? 1 : 0.6;
    context.fill();
    context.globalAlpha = 1;
  } else {
    context.fillStyle = selected ? colours["accent-soft"] : colours.panel;
    context.fill();
  }
  const onPath = scene.path.has(node.id);
  context.strokeStyle = selected || onPath ? colours.accent : zoom < READABLE ? colour : colours.line;
  context.lineWidth = selected ? 3 / Math.min(1, zoom) : onPath ? 2 / Math.min(1, zoom) : 1;
  context.stroke();
  if (zoom < READABLE) return;
  context.fillStyle = colour;
  context.fillRect(left + 1, top + 8, 3, NODE.height - 16);
  drawShape(context, node.state, left + 19, top + NODE.height / 2, colour);
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = colours.ink;
  context.font = `600 12.5px ${colours.font}`;
  context.fillText(clipped(context, node.name, NODE.width - 42), left + 33, top + (node.detail ? 13 : NODE.height / 2));
  if (!node.detail) return;
  context.fillStyle = colours.soft;
  context.font = `11px ${colours.font}`;
  context.fillText(clipped(context, node.detail, NODE.width - 42), left + 33, top + 28);
}

const widths = new Map<string, string>();

function clipped(context: CanvasRenderingContext2D, text: string, most: number): string {
  const key = `${context.font} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  let found = text.slice(0, 80);
  if (context.measureText(found).width > most) {
    while (found && context.measureText(`${found}…`).width > most) found = found.slice(0, -1);
    found += "…";
  }
  if (widths.size > 20_000) widths.clear();
  widths.set(key, found);
  return found;
}

/** The shapes of `parts.tsx`, about a middle. */
function drawShape(context: CanvasRenderingContext2D, state: string, x: number, y: number, colour: string): void {
  context.save();
  context.translate(x - 7, y - 7);
  [context.strokeStyle, context.fillStyle, context.lineWidth] = [colour, colour, 2];
  context.beginPath();
  if (state === "running") {
    context.fill(new Path2D("M3 2l9 5-9 5z"));
  } else if (state === "succeeded") {
    context.stroke(new Path2D("M2 7l3.5 4L12 3"));
  } else if (state === "failed") {
    context.stroke(new Path2D("M3 3l8 8M11 3l-8 8"));
  } else if (state === "pending") {
    context.fillRect(3, 6, 8, 6);
    context.lineWidth = 1.6;
    context.stroke(new Path2D("M5 6V4a2 2 0 014 0v2"));
  } else {
    if (state === "ready") context.setLineDash([2, 2]);
    context.arc(7, 7, 5, 0, 2 * Math.PI);
    context.stroke();
    if (state === "cancelled") context.stroke(new Path2D("M3.5 10.5l7-7"));
  }
  context.restore();
}
