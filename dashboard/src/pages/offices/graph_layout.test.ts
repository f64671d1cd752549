import assert from "node:assert/strict";
import { test } from "node:test";
import { inOrder, type Link, layoutOf, longestPath, NODE, neighbours } from "./graph_layout";

const links = (...pairs: string[]): Link[] => pairs.map((pair) => ({ from: pair[0] ?? "", to: pair[1] ?? "" }));
const DIAMOND = links("ab", "ac", "bd", "cd", "de", "ae");

test("each id comes after those before it", () => {
  const ids = ["e", "d", "c", "b", "a"];
  const order = inOrder(ids, neighbours(ids, DIAMOND));
  assert.equal(order.length, ids.length);
  for (const { from, to } of DIAMOND) assert.ok(order.indexOf(from) < order.indexOf(to), `${from} ${to}`);
});

test("links lead to the right, and nodes do not overlap", () => {
  const ids = [..."abcde"];
  const { at, bends, width, height } = layoutOf(ids, DIAMOND);
  for (const { from, to } of DIAMOND) assert.ok((at.get(from)?.x ?? 0) < (at.get(to)?.x ?? 0), `${from} ${to}`);
  const places = [...at.values()];
  for (const [index, one] of places.entries()) {
    for (const other of places.slice(index + 1)) {
      assert.ok(Math.abs(one.x - other.x) >= NODE.width || Math.abs(one.y - other.y) >= NODE.height);
    }
    assert.ok(one.x <= width - NODE.width / 2 && one.y <= height);
  }
  // A link over several layers bends once in each.
  assert.deepEqual(
    [...bends].map(([link, way]) => [link.from + link.to, way.length]),
    [["ae", 2]],
  );
});

test("jobs without links stand below the others", () => {
  const { at } = layoutOf([..."abx"], links("ab"));
  assert.ok((at.get("x")?.y ?? 0) > (at.get("a")?.y ?? 0));
});

test("thousands of jobs in one chain keep their order", () => {
  const ids = Array.from({ length: 3_000 }, (_, index) => `job${index}`);
  const chain = ids.slice(1).map((to, index) => ({ from: ids[index] ?? "", to }));
  const { at } = layoutOf(ids, chain);
  assert.equal(new Set([...at.values()].map(({ x }) => x)).size, ids.length);
});

test("the longest path counts seconds, not jobs", () => {
  const seconds = (id: string): number => (id === "c" ? 10 : 1);
  const path = longestPath([..."abcde"], DIAMOND, seconds, () => true);
  assert.deepEqual(path, ["a", "c", "d", "e"]);
  assert.deepEqual(
    longestPath([..."abcde"], DIAMOND, seconds, (id) => id === "b"),
    ["a", "b"],
  );
});
