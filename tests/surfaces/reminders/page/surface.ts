// The page of reminders.
import { part, type Surface } from "../../lib/surface";

export const SURFACE: Surface = {
  pages: [
    {
      name: "reminders",
      title: { en: "Reminders", ko: "알림" },
      group: "automation",
      order: 90,
      list: part(async () => (await import("./reminders")).Reminders),
    },
  ],
};
