import type { Task } from '../core/tasks/task.ts';
import { type Part, sampledTokens } from '../core/rollout.ts';

interface Seen {
  tokens: number;
  episodes: number;
}

/**
 * In which order waiting episodes begin: those that are likely to be long first, so that none of them is left alone at the end
 * (longest processing time first, Graham 1969, https://doi.org/10.1137/0117039). What an episode holds does not depend on it.
 */
export class LongestFirst {
  readonly #seen = new Map<string, Seen>();

  /** Takes note of how long an episode was. */
  note(task: Task, { parts }: { parts: readonly Pick<Part, 'sequences'>[] }): void {
    const tokens = parts.reduce((sum, part) => sum + sampledTokens(part), 0);
    for (const name of namesOf(task)) {
      const seen = this.#seen.get(name) ?? { tokens: 0, episodes: 0 };
      this.#seen.set(name, { tokens: seen.tokens + tokens, episodes: seen.episodes + 1 });
    }
  }

  /** Indices of the requests. Those of whose like nothing is known begin first, in their own order. */
  order(requests: readonly { task: Task }[]): number[] {
    const expected = requests.map(({ task }) => this.#expected(task));
    return [...requests.keys()].toSorted((a, b) => {
      const [x = Infinity, y = Infinity] = [expected[a], expected[b]];
      return x === y ? a - b : y - x;
    });
  }

  /** Mean tokens of the episodes of this task, or else of its family, or else of its slice. */
  #expected(task: Task): number | undefined {
    const seen = namesOf(task).flatMap((name) => this.#seen.get(name) ?? []);
    const [nearest] = seen;
    return nearest && nearest.tokens / nearest.episodes;
  }
}

/** What a task is known by, the nearest first. */
function namesOf({ taskId, metadata }: Task): string[] {
  const named = ['family', 'slice'].flatMap((name) =>
    typeof metadata[name] === 'string' ? [`${name} ${metadata[name]}`] : [],
  );
  return [`task ${taskId}`, ...named];
}
