// biome-ignore-all lint/style/noNonNullAssertion: indices and ids come from the lists that they are looked up in
// Where the nodes of a graph are drawn: in layers by their longest way from a start, each near its neighbours; in linear time.
export interface Point {
  x: number;
  y: number;
}

/** The middle of each node, where long links bend, and the size of the whole, which begins at 0, 0. */
export interface Layout {
  at: Map<string, Point>;
  bends: Map<Link, Point[]>;
  width: number;
  height: number;
}

export interface Link {
  from: string;
  to: string;
}

export const NODE = { width: 172, height: 40 };
const GAP = { layer: 72, row: 14 };
/** Room for a link that passes a layer. */
const PASS = 20;
/** A graph with more of them is too dense for its links to be followed by the eye. */
const MOST_PASSES = 3_000;
const SWEEPS = { small: 24, large: 8, from: 500 };

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

export function layoutOf(ids: string[], links: Link[]): Layout {
  const linked = new Set(links.flatMap((each) => [each.from, each.to]));
  const joined = ids.filter((id) => linked.has(id));
  const found = joined.length ? byLayers(joined, links) : { at: new Map(), bends: new Map(), width: 0, height: 0 };
  return withAlone(
    found,
    ids.filter((id) => !linked.has(id)),
  );
}

/** A node of a layer: a job, or the place where a long link passes. */
interface Place {
  y: number;
  size: number;
  before: Place[];
  after: Place[];
}

function byLayers(ids: string[], links: Link[]): Layout {
  const sides = neighbours(ids, links);
  const depths = depthsOf(ids, sides);
  const layers: Place[][] = Array.from({ length: 1 + Math.max(...depths.values()) }, () => []);
  const places = new Map<string, Place>();
  for (const id of nearEachOther(ids, sides)) {
    const place: Place = { y: 0, size: NODE.height + GAP.row, before: [], after: [] };
    places.set(id, place);
    layers[depths.get(id)!]!.push(place);
  }
  const span = ({ from, to }: Link): number => depths.get(to)! - depths.get(from)!;
  const passes = links.reduce((sum, each) => sum + span(each) - 1, 0);
  const ways = new Map<Link, Place[]>();
  for (const link of links) {
    const way: Place[] = [];
    for (let depth = depths.get(link.from)! + 1; passes <= MOST_PASSES && depth < depths.get(link.to)!; depth++) {
      const place: Place = { y: 0, size: PASS, before: [], after: [] };
      layers[depth]!.push(place);
      way.push(place);
    }
    if (way.length) ways.set(link, way);
    [places.get(link.from)!, ...way].forEach((each, index) => {
      const next = way[index] ?? places.get(link.to)!;
      each.after.push(next);
      next.before.push(each);
    });
  }
  arrange(layers, ids.length < SWEEPS.from ? SWEEPS.small : SWEEPS.large);
  const all = layers.flat();
  const least = all.reduce((found, each) => Math.min(found, each.y - each.size / 2), Infinity) + GAP.row / 2;
  const most = all.reduce((found, each) => Math.max(found, each.y + each.size / 2), -Infinity) - GAP.row / 2;
  const x = (depth: number): number => NODE.width / 2 + depth * (NODE.width + GAP.layer);
  const at = new Map<string, Point>();
  for (const [id, place] of places) at.set(id, { x: x(depths.get(id)!), y: place.y - least });
  const bends = new Map<Link, Point[]>();
  for (const [link, way] of ways) {
    const first = depths.get(link.from)! + 1;
    bends.set(
      link,
      way.map((place, index) => ({ x: x(first + index), y: place.y - least })),
    );
  }
  return { at, bends, width: x(layers.length - 1) + NODE.width / 2, height: most - least };
}

function depthsOf(ids: string[], sides: Neighbours): Map<string, number> {
  const depths = new Map<string, number>();
  for (const id of inOrder(ids, sides)) {
    depths.set(
      id,
      (sides.before.get(id) ?? []).reduce((most, each) => Math.max(most, depths.get(each)! + 1), 0),
    );
  }
  return depths;
}

/** Ids by a walk along the links: those that belong together begin together. */
function nearEachOther(ids: string[], { before, after }: Neighbours): string[] {
  const seen = new Set<string>();
  const open = [...ids].reverse();
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...(before.get(id) ?? []), ...[...(after.get(id) ?? [])].reverse());
  }
  return [...seen];
}

/** Sort each layer by where its neighbours are, forward and back in turns, and at last by both sides. */
function arrange(layers: Place[][], sweeps: number): void {
  for (const layer of layers)
    settle(
      layer,
      layer.map(() => 0),
    );
  const mean = (near: Place[], otherwise: number): number =>
    near.length ? near.reduce((sum, each) => sum + each.y, 0) / near.length : otherwise;
  for (let sweep = 0; sweep <= sweeps; sweep++) {
    const forward = sweep % 2 === 0;
    const both = sweep > sweeps - 4;
    for (const layer of forward ? layers : [...layers].reverse()) {
      const wanted = new Map(
        layer.map((each) => [
          each,
          mean(both ? [...each.before, ...each.after] : forward ? each.before : each.after, each.y),
        ]),
      );
      if (!both) layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
      settle(
        layer,
        layer.map((each) => wanted.get(each)!),
      );
    }
  }
}

/** Put the nodes of a layer, in its order, as near to where they want to be as their sizes allow: those that collide share the way. */
function settle(layer: Place[], wanted: number[]): void {
  const offsets: number[] = [];
  for (const [index, each] of layer.entries()) {
    offsets.push(index ? offsets[index - 1]! + (layer[index - 1]!.size + each.size) / 2 : 0);
  }
  const blocks: { count: number; sum: number }[] = [];
  wanted.forEach((each, index) => {
    let block = { count: 1, sum: each - offsets[index]! };
    for (
      let above = blocks.at(-1);
      above && above.sum / above.count >= block.sum / block.count;
      above = blocks.at(-1)
    ) {
      blocks.pop();
      block = { count: above.count + block.count, sum: above.sum + block.sum };
    }
    blocks.push(block);
  });
  let index = 0;
  for (const { count, sum } of blocks) {
    for (const end = index + count; index < end; index++) layer[index]!.y = sum / count + offsets[index]!;
  }
}

/** Nodes without neighbours, in rows below the rest. */
function withAlone(found: Layout, alone: string[]): Layout {
  if (alone.length === 0) return found;
  const step = { x: NODE.width + 24, y: NODE.height + GAP.row };
  const columns = Math.max(
    Math.round(Math.sqrt(alone.length / 2)) || 1,
    Math.floor(found.width / step.x),
    Math.min(alone.length, 4),
  );
  const top = found.height ? found.height + 48 : 0;
  alone.forEach((id, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)];
    found.at.set(id, { x: NODE.width / 2 + column * step.x, y: top + NODE.height / 2 + row * step.y });
  });
  const rows = Math.ceil(alone.length / columns);
  return {
    ...found,
    width: Math.max(found.width, Math.min(columns, alone.length) * step.x - 24),
    height: top + rows * step.y - GAP.row,
  };
}

/** The path that takes longest, up to one of `ends`. */
export function longestPath(
  ids: string[],
  links: Link[],
  seconds: (id: string) => number,
  ends: (id: string) => boolean,
): string[] {
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
