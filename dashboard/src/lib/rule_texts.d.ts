// The Korean texts in all `rules.json` of the package, by code; the bundler finds them.
declare module "hanbeon:rules" {
  const texts: Record<string, string>;
  export default texts;
}
