// Where the nodes of a graph are drawn. Small graphs: dagre. Large ones: layers, ordered by their neighbours, in linear time.
import { Graph as DagreGraph, layout as dagreLayout } from "@dagrejs/dagre";

export interface Point {
  x: number;
  y: number;
}

/** The middle of each node, and the size of the whole, which begins at 0, 0. */
export interface Layout {
  at: Map<string, Point>;
  width: number;
  height: number;
}

export interface Link {
  from: string;
  to: string;
}

export const NODE = { width: 172, height: 40 };
const GAP = { layer: 72, row: 14 };
const DAGRE_NODES = 150;
const DAGRE_EDGES = 400;
const SWEEPS = 6;

export function layoutOf(ids: string[], links: Link[]): Layout {
  const linked = new Set(links.flatMap((each) => [each.from, each.to]));
  const joined = ids.filter((id) => linked.has(id));
  const small = joined.length <= DAGRE_NODES && links.length <= DAGRE_EDGES;
  const found = small ? byDagre(joined, links) : byLayers(joined, links);
  return withAlone(found, ids.filter((id) => !linked.has(id)));
}

function byDagre(ids: string[], links: Link[]): Layout {
  const at = new Map<string, Point>();
  if (ids.length === 0) return { at, width: 0, height: 0 };
  const graph = new DagreGraph();
  graph.setGraph({ rankdir: "LR", nodesep: GAP.row, ranksep: GAP.layer });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { ...NODE });
  for (const { from, to } of links) graph.setEdge(from, to);
  dagreLayout(graph);
  for (const id of ids) {
    const { x, y } = graph.node(id) as unknown as Point;
    at.set(id, { x, y });
  }
  const size = graph.graph() as { width?: number; height?: number };
  return { at, width: size.width ?? 0, height: size.height ?? 0 };
}

export interface Neighbours {
  before: Map<string, string[]>;
  after: Map<string, string[]>;
}

export function neighbours(ids: string[], links: Link[]): Neighbours {
  const before = new Map<string, string[]>(ids.map((id) => [id, []]));
  const after = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { from, to } of links) {
    if (!before.has(from) || !before.has(to)) continue;
    before.get(to)?.push(from);
    after.get(from)?.push(to);
  }
  return { before, after };
}

/** Ids so that each comes after those before it; the API refuses cycles. */
export function inOrder(ids: string[], { before, after }: Neighbours): string[] {
  const missing = new Map(ids.map((id) => [id, before.get(id)?.length ?? 0]));
  const order = ids.filter((id) => missing.get(id) === 0);
  for (let index = 0; index < order.length; index++) {
    for (const next of after.get(order[index]!) ?? []) {
      const left = missing.get(next)! - 1;
      missing.set(next, left);
      if (left === 0) order.push(next);
    }
  }
  return order;
}

function byLayers(ids: string[], links: Link[]): Layout {
  const sides = neighbours(ids, links);
  const layerOf = new Map<string, number>();
  const layers: string[][] = [];
  for (const id of inOrder(ids, sides)) {
    const depth = 1 + Math.max(-1, ...(sides.before.get(id) ?? []).map((each) => layerOf.get(each)!));
    layerOf.set(id, depth);
    (layers[depth] ??= []).push(id);
  }
  const step = NODE.height + GAP.row;
  const y = new Map<string, number>();
  for (const layer of layers) layer.forEach((id, index) => y.set(id, (index - layer.length / 2) * step));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0;
    for (const layer of forward ? layers : [...layers].reverse()) {
      const wanted = new Map<string, number>();
      for (const id of layer) {
        const near = (forward ? sides.before : sides.after).get(id) ?? [];
        wanted.set(id, near.length ? near.reduce((sum, each) => sum + y.get(each)!, 0) / near.length : y.get(id)!);
      }
      layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
      settle(layer, wanted, y, step);
    }
  }
  const least = Math.min(...y.values());
  const at = new Map<string, Point>();
  for (const [depth, layer] of layers.entries()) {
    const x = NODE.width / 2 + depth * (NODE.width + GAP.layer);
    for (const id of layer) at.set(id, { x, y: y.get(id)! - least + NODE.height / 2 });
  }
  return { at, width: layers.length * (NODE.width + GAP.layer) - GAP.layer, height: Math.max(...y.values()) - least + NODE.height };
}

/** Put sorted nodes as near to where they want to be as a distance of `step` allows: neighbours that collide share their mean. */
function settle(layer: string[], wanted: Map<string, number>, y: Map<string, number>, step: number): void {
  const blocks: { first: number; count: number; sum: number }[] = [];
  layer.forEach((id, index) => {
    let block = { first: index, count: 1, sum: wanted.get(id)! };
    for (let above = blocks.at(-1); above; above = blocks.at(-1)) {
      // The top of a block of n nodes whose middle is their mean.
      const end = above.sum / above.count + ((above.count + 1) / 2) * step;
      if (end <= block.sum / block.count - ((block.count - 1) / 2) * step) break;
      blocks.pop();
      block = { first: above.first, count: above.count + block.count, sum: above.sum + block.sum };
    }
    blocks.push(block);
  });
  for (const { first, count, sum } of blocks) {
    const top = sum / count - ((count - 1) / 2) * step;
    for (let index = 0; index < count; index++) y.set(layer[first + index]!, top + index * step);
  }
}

/** Nodes without neighbours, in rows below the rest. */
function withAlone(found: Layout, alone: string[]): Layout {
  if (alone.length === 0) return found;
  const step = { x: NODE.width + 24, y: NODE.height + GAP.row };
  const columns = Math.max(Math.round(Math.sqrt(alone.length / 2)) || 1, Math.floor(found.width / step.x), Math.min(alone.length, 4));
  const top = found.height ? found.height + 48 : 0;
  alone.forEach((id, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)];
    found.at.set(id, { x: NODE.width / 2 + column * step.x, y: top + NODE.height / 2 + row * step.y });
  });
  const rows = Math.ceil(alone.length / columns);
  return {
    at: found.at,
    width: Math.max(found.width, Math.min(columns, alone.length) * step.x - 24),
    height: top + rows * step.y - GAP.row,
  };
}


/** The path that takes longest, up to one of `ends`. */
export function longestPath(ids: string[], links: Link[], seconds: (id: string) => number, ends: (id: string) => boolean): string[] {
  const sides = neighbours(ids, links);
  const total = new Map<string, number>();
  const from = new Map<string, string>();
  let last: string | undefined;
  for (const id of inOrder(ids, sides)) {
    let most = 0;
    for (const each of sides.before.get(id) ?? []) {
      if (total.get(each)! > most) {
        most = total.get(each)!;
        from.set(id, each);
      }
    }
    total.set(id, most + seconds(id));
    if (ends(id) && (last === undefined || total.get(id)! > total.get(last)!)) last = id;
  }
  const path: string[] = [];
  for (let id = last; id !== undefined; id = from.get(id)) path.unshift(id);
  return path;
}
