/** What one entry of `packages` in a package-lock.json says, as far as it is looked at here. */
export interface Locked {
  version?: string;
  resolved?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
  [key: string]: unknown;
}

export interface PackageLock {
  lockfileVersion: number;
  packages: Record<string, Locked>;
}

/** What a project's package.json says that a lock file repeats. */
export interface Project {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** A packed package: its name in `node_modules`, its entry in the lock file. */
export interface PackedPackage {
  name: string;
  entry: Locked;
}

/**
 * The lock file of a project that has a packed package and some of our development tools, with exactly the versions
 * that our own lock file holds, so that npm needs its cache and nothing else.
 */
export function derivedLock(ours: PackageLock, project: Project, packed: PackedPackage): object {
  const own = `node_modules/${packed.name}`;
  const all: Record<string, Locked> = { ...ours.packages, '': { ...project }, [own]: packed.entry };
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
  return { name, version, lockfileVersion: ours.lockfileVersion, requires: true, packages };
}

/** A peer that is optional is not installed for it. */
function needsOf(locked: Locked): string[] {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies = {} } = locked;
  const peers = Object.keys(peerDependencies).filter(
    (name) => locked.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [
    ...Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }),
    ...peers,
  ];
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
