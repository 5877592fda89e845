/**
 * What a program defines at its outermost level (functions, classes and variables), which of these are classes, and
 * its imports as statements by the names they bind. Reads line by line: MBPP's programs put neither imports nor heads
 * of functions on several.
 */
export function referenceNames(source: string) {
  const [defined, classes] = [new Set<string>(), new Set<string>()];
  const imports = new Map<string, string>();
  for (const line of source.split('\n')) {
    const made = /^(?:(class|(?:async\s+)?def)\s+)?([A-Za-z_]\w*)\s*(?:[(:]|=(?!=))/.exec(line);
    const name = made?.[2];
    if (name !== undefined && (made?.[1] !== undefined || /^\w+\s*=/.test(line))) defined.add(name);
    if (name !== undefined && made?.[1] === 'class') classes.add(name);
    for (const [bound, statement] of importsOf(line)) imports.set(bound, statement);
  }
  return { defined, classes, imports };
}

function importsOf(line: string): (readonly [string, string])[] {
  const from = /^from\s+([\w.]+)\s+import\s+(.+)$/.exec(line);
  const what = from?.[2] ?? /^import\s+(.+)$/.exec(line)?.[1];
  if (what === undefined) return [];
  const clauses = what.split('#')[0]?.split(/[,;]/) ?? [];
  return clauses.flatMap((clause) => {
    const [, path, alias] = /^\s*([\w.]+|\*)(?:\s+as\s+(\w+))?\s*$/.exec(clause) ?? [];
    if (path === undefined || path === '*') return [];
    // `import a.b` binds `a`.
    const bound = alias ?? (from === null ? (path.split('.')[0] ?? path) : path);
    const text = `import ${path}${alias === undefined ? '' : ` as ${alias}`}`;
    return [[bound, from === null ? text : `from ${from[1]} ${text}`] as const];
  });
}

/** The names a piece of Python uses, apart from strings and attributes. */
export function usedNames(source: string): ReadonlySet<string> {
  const code = source.replaceAll(
    /"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g,
    '""',
  );
  return new Set(code.match(/(?<![\w.])[A-Za-z_]\w*/g));
}
