// Pages of workflows, and their counts on the first page.
import { call } from "../../lib/api";
import { part, type Surface, type Title } from "../../lib/surface";

export const NAME: Title = { en: "Workflows", ko: "워크플로우" };

export const SURFACE: Surface = {
  pages: [
    {
      name: "workflows",
      title: NAME,
      group: "automation",
      order: 40,
      list: part(async () => (await import("./workflows")).Workflows),
    },
  ],
  queues: { internal: ["workflows", "workflow-tasks", "workflow-notices"] },
  maker: { of: "workflows", find: async (id) => [(await call("GET /api/workflows/{id}", { path: { id } })).name, id] },
  finds: {
    kind: { en: "workflow", ko: "워크플로우" },
    find: async () => {
      const { items } = await call("GET /api/workflows", { query: { limit: 200 } });
      return items.map(({ id, name }) => ({ text: name, parts: ["workflows", id] }));
    },
  },
  home: part(async () => (await import("./counts")).TitledCounts),
};
