// Pages of the engine: jobs and queues, and those of the installation.
import { call, isAdmin } from "../../lib/api";
import { part, type Surface } from "../../lib/surface";

const installation = () => import("./installation");

export const SURFACE: Surface = {
  pages: [
    {
      name: "",
      title: { en: "Home", ko: "홈" },
      group: "work",
      order: 10,
      list: part(async () => (await import("./home")).Home),
    },
    {
      name: "jobs",
      title: { en: "Jobs", ko: "작업" },
      group: "work",
      order: 20,
      list: part(async () => (await import("./jobs")).Jobs),
      one: part(async () => (await import("./job")).Job),
    },
    {
      name: "queues",
      title: { en: "Queues", ko: "큐" },
      group: "work",
      order: 30,
      list: part(async () => (await import("./queues")).Queues),
    },
    {
      name: "instances",
      title: { en: "Workers", ko: "워커" },
      group: "system",
      order: 10,
      list: part(async () => (await installation()).Instances),
    },
    {
      name: "deadletters",
      title: { en: "Dead letters", ko: "데드 레터" },
      group: "system",
      order: 20,
      list: part(async () => (await import("./dead_letters")).DeadLetters),
      used: async () =>
        isAdmin() && (await call("GET /api/engine/deadletters", { query: { limit: 1 } })).items.length > 0,
    },
    {
      name: "actions",
      title: { en: "Audit log", ko: "변경 기록" },
      group: "system",
      order: 30,
      list: part(async () => (await installation()).Actions),
    },
    {
      name: "settings",
      title: { en: "Settings", ko: "설정" },
      group: "system",
      order: 40,
      list: part(async () => (await installation()).Settings),
    },
    {
      name: "which",
      title: { en: "Which do I need?", ko: "무엇이 필요할까요?" },
      group: "system",
      order: 50,
      list: part(async () => (await import("./which")).Which),
    },
  ],
  finds: {
    kind: { en: "queue", ko: "큐" },
    find: async () => {
      const { items } = await call("GET /api/engine/queues", { query: { limit: 200 } });
      return items.map(({ name }) => ({ text: name, parts: ["jobs"], query: { queue: name } }));
    },
  },
};
