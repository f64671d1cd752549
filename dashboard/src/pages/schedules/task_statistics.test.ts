import assert from "node:assert/strict";
import { test } from "node:test";
import type { EngineJob, State } from "../../lib/api";
import { statisticsOf } from "./task_statistics";

const job = (state: State, seconds: number, took: number): EngineJob => {
  const [started_at, finished_at] = [seconds - took, seconds].map((each) => new Date(each * 1000).toISOString());
  // biome-ignore lint/plugin: the fields that are read
  return { state, started_at, finished_at } as EngineJob;
};

test("latest jobs have rates and latencies, step by step", () => {
  const jobs = [job("succeeded", 100, 1), job("failed", 100, 2), job("succeeded", 124, 3), job("cancelled", 125, 9)];
  const found = statisticsOf(jobs);
  assert.deepEqual([found.jobs, found.succeeded, found.failed, found.p50, found.p95], [4, 2, 1, 2, 3]);
  assert.deepEqual([found.from, found.to], [100_000, 124_000]);
  assert.equal(
    found.steps.reduce((sum, each) => sum + each.succeeded + each.failed, 0),
    3,
  );
  assert.deepEqual([found.steps[0]?.failed, found.steps[0]?.p50, found.steps[1]?.p50], [1, 1, null]);
});

test("a task without ended jobs has no steps", () => {
  assert.deepEqual(statisticsOf([]).steps, []);
  assert.equal(statisticsOf([]).from, null);
});
