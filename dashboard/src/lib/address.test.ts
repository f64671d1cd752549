import assert from "node:assert/strict";
import { test } from "node:test";
import { link, placeOf } from "./address";

test("an address leads to its place", () => {
  const place = placeOf("#/jobs/a%2Fb?state=failed&queue=x%20y");
  assert.deepEqual(place.parts, ["jobs", "a/b"]);
  assert.deepEqual(
    [...place.query],
    [
      ["state", "failed"],
      ["queue", "x y"],
    ],
  );
});

test("the first page has no parts", () => {
  for (const hash of ["", "#", "#/", "#//"]) assert.deepEqual(placeOf(hash).parts, []);
});

test("a broken escape stays as it is", () => {
  assert.deepEqual(placeOf("#/jobs/%E0%A4%A").parts, ["jobs", "%E0%A4%A"]);
});

test("a link leads back to what it was made of", () => {
  const place = placeOf(link(["jobs", "a/b?c"], { state: "failed", queue: "" }));
  assert.deepEqual(place.parts, ["jobs", "a/b?c"]);
  assert.deepEqual([...place.query], [["state", "failed"]]);
  assert.equal(link([]), "#/");
});
