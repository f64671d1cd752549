import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { session } from "./api";
import { ago, clock, clockThere, duration, exampleTime, number, queueName, short, time } from "./format";
import { language, zone } from "./preferences";

const ID = "0191f1a0-1111-7222-8333-444455556666";

afterEach(() => {
  [language.value, zone.value, session.value] = ["en", "viewer", undefined];
});

test("durations have their two largest units", () => {
  language.value = "en";
  const cases: [number | null, string][] = [
    [null, "–"],
    [Number.NaN, "–"],
    [0, "0 ms"],
    [0.0042, "4.2 ms"],
    [0.25, "250 ms"],
    [9.96, "10 s"],
    [42, "42 s"],
    [60, "1 min"],
    [3_725, "1 h 2 min"],
    [86_400, "1 d"],
    [90_061, "1 d 1 h"],
  ];
  for (const [seconds, text] of cases) assert.equal(duration(seconds), text);
});

test("Korean units follow their number", () => {
  language.value = "ko";
  assert.equal(duration(3_725), "1시간 2분");
});

test("numbers are grouped", () => {
  language.value = "en";
  assert.equal(number(1_234_567.891, 1), "1,234,567.9");
});

test("moments are in the zone of the viewer", () => {
  language.value = "en";
  assert.equal(clock("2026-01-01T20:05:00Z"), "20:05");
  session.value = { user: "ada", scope: "read", login: false, timezone: "Asia/Seoul" };
  zone.value = "installation";
  assert.equal(clock("2026-01-01T20:05:00Z", true), "1/2, 05:05");
  assert.match(time("2026-01-01T20:05:00Z"), /Jan 2, 2026/);
  assert.equal(time(null), "–");
  assert.equal(clockThere("2026-01-02T05:05:00+09:00"), "");
  assert.equal(clockThere("2026-01-01T20:05:00+00:00"), "20:05 UTC+00:00");
});

test("an example has the offset of the installation's zone at that time", () => {
  for (const [timezone, wall, text] of [
    ["Asia/Seoul", "2027-01-01T09:00:00", "2027-01-01T09:00:00+09:00"],
    ["Europe/Berlin", "2027-07-01T09:00:00", "2027-07-01T09:00:00+02:00"],
    ["UTC", "2027-01-01T09:00:00", "2027-01-01T09:00:00+00:00"],
  ] as const) {
    session.value = { user: "ada", scope: "read", login: false, timezone };
    assert.equal(exampleTime(wall), text);
  }
});

test("a time ago has its largest unit alone", () => {
  const before = (seconds: number): string => ago(new Date(Date.now() - seconds * 1000 - 500).toISOString());
  assert.deepEqual(
    [before(5), before(100), before(7_300), before(200_000)],
    ["5 s ago", "1 min ago", "2 h ago", "2 d ago"],
  );
});

test("ids are shortened, also in names of queues", () => {
  assert.equal(short(ID), "0191f1a0…6666");
  assert.equal(short("short"), "short");
  assert.equal(queueName(`office:${ID}`), "office:0191f1a0…6666");
});
