// Pages of schedules and of the tasks that they run.
import { call } from "../../lib/api";
import { part, type Surface, type Title } from "../../lib/surface";
import { TASKS_TITLE } from "./names";

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
    {
      name: "tasks",
      title: TASKS_TITLE,
      group: "work",
      order: 25,
      list: part(async () => (await import("./tasks")).Tasks),
      one: part(async () => (await import("./task")).TaskPage),
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
