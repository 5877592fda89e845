/**
 * Imports a test file so that its tests and hooks belong to a block named after the file. Several test files can then
 * share one module registry, which saves loading their modules once for each. jest-circus has no public call for it:
 * `describe` takes no asynchronous function, and an import is one.
 */
export const inOneBlock = async (file, load) => {
  const state = Object.getOwnPropertySymbols(globalThis)
    .map((symbol) => globalThis[symbol])
    .find((value) => value?.currentDescribeBlock !== undefined);
  if (!state) throw new Error('This version of jest-circus keeps its state elsewhere');
  const parent = state.currentDescribeBlock;
  globalThis.describe(file, () => {});
  state.currentDescribeBlock = parent.children.at(-1);
  try {
    await load();
  } finally {
    state.currentDescribeBlock = parent;
  }
};
