import { importsOf, type SourceFile } from './source-files.ts';

/** The files of each circle of imports, type imports counted; circles that share a file are one. */
export function importCircles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const imports = new Map(files.map((file) => [file.path, importsOf(file)]));
  const reached = new Map(files.map(({ path }) => [path, reachedFrom(path, imports)]));
  const circles: string[][] = [];
  for (const [path, targets] of reached) {
    if (!targets.has(path) || circles.some((circle) => circle.includes(path))) continue;
    circles.push([...targets].filter((target) => reached.get(target)?.has(path)).toSorted());
  }
  return circles;
}

/** Everything a file imports, and what that imports; the file itself only where it is in a circle. */
function reachedFrom(path: string, imports: ReadonlyMap<string, readonly string[]>) {
  const reached = new Set(imports.get(path));
  // A set shows what is added to it while it is read.
  for (const target of reached) for (const next of imports.get(target) ?? []) reached.add(next);
  return reached;
}
