// Pages of schedules.
import { call } from "../../lib/api";
import { part, type Surface, type Title } from "../../lib/surface";

export const NAME: Title = { en: "Schedules", ko: "스케줄" };

export const SURFACE: Surface = {
  pages: [
    {
      name: "schedules",
      title: NAME,
      group: "automation",
      order: 20,
      list: part(async () => (await import("./schedules")).Schedules),
      one: part(async () => (await import("./schedule")).SchedulePage),
    },
  ],
  maker: {
    of: "executions",
    find: async (execution) => {
      const id = (await call("GET /api/executions/{id}", { path: { id: execution } })).schedule_id;
      return id ? [(await call("GET /api/schedules/{id}", { path: { id } })).name ?? id, id] : null;
    },
  },
};
