// All folders below `pages/` that have a `surface.ts`; the bundler finds them.
declare module "hanbeon:surfaces" {
  export const SURFACES: import("./surface").Surface[];
}
