// Pages of offices.
import { call } from "../../lib/api";
import { part, type Surface, type Title } from "../../lib/surface";

export const NAME: Title = { en: "Offices", ko: "오피스" };

export const SURFACE: Surface = {
  pages: [
    {
      name: "offices",
      title: NAME,
      group: "automation",
      order: 10,
      list: part(async () => (await import("./offices")).Offices),
      one: part(async () => (await import("./offices")).OfficePage),
    },
  ],
  queues: {
    internal: ["webhook", "notification", "webhook-test"],
    named: { prefix: "office:", find: async (id) => (await call("GET /api/offices/{id}", { path: { id } })).name },
  },
  maker: { of: "offices", find: async (id) => [(await call("GET /api/offices/{id}", { path: { id } })).name, id] },
  finds: {
    kind: { en: "office", ko: "오피스" },
    find: async () => {
      const { items } = await call("GET /api/offices", { query: { limit: 200 } });
      return items.map(({ id, name }) => ({ text: name, parts: ["offices", id] }));
    },
  },
};
