import type { Task } from '../core/tasks/task.ts';
import { type Part, sampledTokens } from '../core/rollout.ts';

interface Seen {
  tokens: number;
  episodes: number;
}

/**
 * The order in which waiting episodes start: likely long ones first, so that no long episode runs alone at the end
 * (longest processing time first, Graham 1969, https://doi.org/10.1137/0117039). The contents of an episode do not
 * depend on it.
 */
export class LongestFirst {
  readonly #seen = new Map<string, Seen>();

  /** Records the length of an episode. */
  note(task: Task, { parts }: { parts: readonly Pick<Part, 'sequences'>[] }): void {
    const tokens = parts.reduce((sum, part) => sum + sampledTokens(part), 0);
    for (const name of namesOf(task)) {
      const seen = this.#seen.get(name) ?? { tokens: 0, episodes: 0 };
      this.#seen.set(name, { tokens: seen.tokens + tokens, episodes: seen.episodes + 1 });
    }
  }

  /** Indices of the requests. Requests without an estimate start first, in their own order. */
  order(requests: readonly { task: Task }[]): number[] {
    const expected = requests.map(({ task }) => this.#expected(task));
    return [...requests.keys()].toSorted((a, b) => {
      const [x = Infinity, y = Infinity] = [expected[a], expected[b]];
      return x === y ? a - b : y - x;
    });
  }

  /** Mean tokens of the episodes of this task, its family or its slice, whichever is known first. */
  #expected(task: Task): number | undefined {
    const seen = namesOf(task).flatMap((name) => this.#seen.get(name) ?? []);
    const [nearest] = seen;
    return nearest && nearest.tokens / nearest.episodes;
  }
}

/** The keys of a task, the most specific first. */
function namesOf({ taskId, metadata }: Task): string[] {
  const named = ['family', 'slice'].flatMap((name) =>
    typeof metadata[name] === 'string' ? [`${name} ${metadata[name]}`] : [],
  );
  return [`task ${taskId}`, ...named];
}
