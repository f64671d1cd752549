// Pages of chains.
import { part, type Surface, type Title } from "../../lib/surface";

export const NAME: Title = { en: "Chains", ko: "체인" };

export const SURFACE: Surface = {
  pages: [
    {
      name: "chains",
      title: NAME,
      group: "automation",
      order: 30,
      list: part(async () => (await import("./chains")).Chains),
      one: part(async () => (await import("./chain")).ChainPage),
    },
  ],
  queues: { internal: ["chains"] },
  home: part(async () => (await import("./blocked")).BlockedChains),
  maker: { of: "chains", find: async (id) => [id, id] },
};
