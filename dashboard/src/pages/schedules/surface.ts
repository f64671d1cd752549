// Pages of schedules.
import { part, type Surface, type Title } from "../../lib/surface";

export const NAME: Title = { en: "Schedules", ko: "스케줄" };

export const SURFACE: Surface = {
  pages: [
    {
      name: "schedules",
      title: NAME,
      group: "surfaces",
      order: 20,
      list: part(async () => (await import("./schedules")).Schedules),
      one: part(async () => (await import("./schedule")).SchedulePage),
    },
  ],
};
