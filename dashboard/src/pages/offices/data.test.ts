import assert from "node:assert/strict";
import { test } from "node:test";
import { durations, type OfficeJob } from "./data";

const job = (id: string, role: string, seconds: number | null): OfficeJob => ({
  id,
  name: id,
  role,
  status: seconds === null ? "pending" : "done",
  began: seconds === null ? null : 1_000_000,
  ended: seconds === null ? null : 1_000_000 + seconds * 1_000,
});

test("a job that has not begun takes as long as others of its role", () => {
  const jobs = [
    job("a", "build", 10),
    job("b", "build", 20),
    job("c", "test", 3),
    job("d", "build", null),
    job("e", "new", null),
  ];
  const graph = { jobs: new Map(jobs.map((each) => [each.id, each])), links: [], shape: "", truncated: false };
  const seconds = durations(graph);
  assert.deepEqual(["a", "d", "e", "?"].map(seconds), [10, 15, 11, 0]);
});
