/** What one entry of `packages` in a package-lock.json says, as far as it is looked at here. */
export interface Locked {
  version?: string;
  dependencies?: object;
  devDependencies?: object;
  optionalDependencies?: object;
  peerDependencies?: object;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  [key: string]: unknown;
}

export interface PackageLock {
  lockfileVersion: number;
  packages: Record<string, Locked>;
}

/**
 * The lock file of a project that has a packed package and some of our development tools, with exactly the versions
 * that our own lock file holds, so that npm needs its cache and nothing else.
 */
export function derivedLock(ours: PackageLock, project: Locked, packed: Locked): object {
  const own = { '': project, 'node_modules/agent_rl': packed };
  const all: Record<string, Locked> = { ...ours.packages, ...own };
  const wanted = new Set<string>();
  const visit = (path: string): void => {
    if (wanted.has(path)) return;
    wanted.add(path);
    for (const name of needsOf(all[path] ?? {})) {
      const found = lookUp(path, name, all);
      if (found !== undefined) visit(found);
    }
  };
  visit('');
  const packages = Object.fromEntries(
    [...wanted].toSorted().map((path) => [path, withoutMarks(all[path] ?? {})]),
  );
  const { name, version } = project;
  const { lockfileVersion } = ours;
  return { name, version, lockfileVersion, requires: true, packages };
}

/** A peer that is optional is not installed for it. */
function needsOf(locked: Locked): string[] {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies = {} } = locked;
  const peers = Object.keys(peerDependencies).filter(
    (name) => locked.peerDependenciesMeta?.[name]?.optional !== true,
  );
  const own = { ...dependencies, ...devDependencies, ...optionalDependencies };
  return [...Object.keys(own), ...peers];
}

/** The nearest folder at or above `path` whose `node_modules` holds the package, as Node searches. */
function lookUp(path: string, name: string, all: Record<string, Locked>): string | undefined {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const candidate = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (Object.hasOwn(all, candidate)) return candidate;
    if (at === '') return undefined;
  }
}

/** `dev` and `peer` say whose need a package is; they are another's here, and `npm ci` does not ask. */
function withoutMarks({ dev: _dev, peer: _peer, devOptional: _both, ...rest }: Locked): Locked {
  return rest;
}
