// Bundle the page into the folder given as the only argument: app.js, its chunks, app.css, and the files that stay as they are.
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { scripts, styles } from "./bundle.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");
mkdirSync(out, { recursive: true });
await Promise.all([scripts([join(here, "src/app.tsx")], out), styles(join(out, "app.css"))]);
for (const name of ["index.html", "icon.svg"]) copyFileSync(join(here, "src", name), join(out, name));
