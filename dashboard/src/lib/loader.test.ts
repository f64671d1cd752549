import assert from "node:assert/strict";
import { before, beforeEach, mock, test } from "node:test";
import { Problem } from "./api";
import { loader } from "./loader";

const page = Object.assign(new EventTarget(), { hidden: false });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Reads that are answered by hand. */
function answeredByHand() {
  const open: { left: AbortSignal; answer: (value: number) => void; refuse: (error: unknown) => void }[] = [];
  const read = (left: AbortSignal): Promise<number> =>
    new Promise((answer, refuse) => {
      open.push({ left, answer, refuse });
    });
  const last = () => {
    const found = open.at(-1);
    assert.ok(found);
    return found;
  };
  return { open, read, last };
}

before(() => {
  Object.assign(globalThis, { document: page });
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
});
beforeEach(() => {
  page.hidden = false;
});

test("refreshes while one is read are one more read", async () => {
  const { open, read, last } = answeredByHand();
  const loaded = loader(read, Infinity, null);
  const stop = loaded.start();
  for (let count = 0; count < 3; count++) loaded.refresh();
  assert.equal(open.length, 1);
  last().answer(1);
  await settled();
  assert.deepEqual([loaded.data.value, open.length], [1, 2]);
  last().answer(2);
  await settled();
  assert.deepEqual([loaded.data.value, open.length], [2, 2]);
  stop();
});

test("what is left is cancelled and changes nothing", async () => {
  const { read, last } = answeredByHand();
  const loaded = loader(read, 1_000, null);
  const stop = loaded.start();
  stop();
  assert.ok(last().left.aborted);
  last().answer(1);
  await settled();
  assert.equal(loaded.data.value, undefined);
});

test("nothing is read after it was left", async () => {
  const { open, read, last } = answeredByHand();
  const loaded = loader(read, 1_000, null);
  const stop = loaded.start();
  last().answer(1);
  await settled();
  stop();
  mock.timers.tick(10_000);
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(open.length, 1);
});

test("a problem stands beside the data until the next answer", async () => {
  const { read, last } = answeredByHand();
  const loaded = loader(read, Infinity, null);
  const stop = loaded.start();
  last().answer(1);
  await settled();
  loaded.refresh();
  const problem = new Problem(503, "unavailable", "", null);
  last().refuse(problem);
  await settled();
  assert.deepEqual([loaded.data.value, loaded.problem.value], [1, problem]);
  loaded.refresh();
  last().answer(2);
  await settled();
  assert.deepEqual([loaded.data.value, loaded.problem.value], [2, undefined]);
  stop();
});

test("a hidden page asks for nothing, and at once when it is seen", async () => {
  const { open, read, last } = answeredByHand();
  const stop = loader(read, 1_000, null).start();
  last().answer(1);
  await settled();
  page.hidden = true;
  mock.timers.tick(5_000);
  assert.equal(open.length, 1);
  page.hidden = false;
  page.dispatchEvent(new Event("visibilitychange"));
  assert.equal(open.length, 2);
  stop();
});

test("changes are read at once, and the timer counts from there", async () => {
  const { open, read, last } = answeredByHand();
  let changed = (): void => undefined;
  let followed = true;
  const follow = (hint: () => void) => {
    changed = hint;
    return () => {
      followed = false;
    };
  };
  const stop = loader(read, 1_000, follow).start();
  last().answer(1);
  await settled();
  mock.timers.tick(1_000);
  changed();
  assert.equal(open.length, 2);
  last().answer(2);
  await settled();
  mock.timers.tick(1_499);
  assert.equal(open.length, 2);
  mock.timers.tick(1);
  assert.equal(open.length, 3);
  stop();
  assert.equal(followed, false);
});
