/** Characters of a key; more are refused. */
const longestName = 250;

/** What MLflow allows in the name of a metric or a parameter. */
const notAllowed = /[^\p{L}\p{N}_\-. :/]/gu;

/**
 * A name as MLflow takes it: other characters than letters, digits and `_-. :/` become `_`, and so does what would make it
 * another file where names are files. Longer ones are cut.
 */
function allowed(name: string): string {
  const parts = name.replaceAll(notAllowed, '_').split('/');
  const steady = parts.map((part) => (part === '' || part === '.' || part === '..' ? '_' : part));
  return Array.from(steady.join('/')).slice(0, longestName).join('').replace(/\/$/, '_');
}

/** Names of a run in MLflow. Two names never become one. */
export class MlflowNames {
  readonly #takenBy = new Map<string, string>();
  readonly #nameOf = new Map<string, string>();
  readonly #changed: string[] = [];

  of(name: string): string {
    const known = this.#nameOf.get(name);
    if (known !== undefined) return known;
    const first = allowed(name);
    let free = first;
    for (let number = 2; this.#takenBy.has(free); number++) {
      const end = `_${number}`;
      free =
        Array.from(first)
          .slice(0, longestName - end.length)
          .join('') + end;
    }
    this.#takenBy.set(free, name);
    this.#nameOf.set(name, free);
    if (free !== name)
      this.#changed.push(`${JSON.stringify(name)} is named ${JSON.stringify(free)} in MLflow`);
    return free;
  }

  /** What was changed since this was asked last, in words. */
  takeChanges(): string[] {
    return this.#changed.splice(0);
  }
}
