// The page of exports.
import { call } from "../../lib/api";
import { part, type Surface, type Title } from "../../lib/surface";

export const NAME: Title = { en: "Exports", ko: "내보내기" };

export const SURFACE: Surface = {
  pages: [
    {
      name: "exports",
      title: NAME,
      group: "automation",
      order: 50,
      list: part(async () => (await import("./exports")).Exports),
      used: async () => (await call("GET /api/replays", { query: { size: 1 } })).total > 0,
    },
  ],
  queues: { internal: ["exports"] },
};
