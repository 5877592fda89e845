import { JsonlWriter } from './jsonl-writer.ts';
import { metricDefinition, type Metrics } from './metric-names.ts';

/** Writes `metrics.jsonl`: one line per iteration, `{"iteration": 3, "rollout/rewardMean": 0.4, …}`. */
export class MetricsWriter {
  readonly #lines: JsonlWriter;

  /** @throws AgentRlError `OUTPUT_UNWRITABLE` */
  constructor(file: string) {
    this.#lines = new JsonlWriter(file);
  }

  /**
   * @throws RangeError on a name that `metric-names.ts` does not define: a bug, found before it is written.
   * @throws AgentRlError `OUTPUT_UNWRITABLE`
   */
  write(iteration: number, metrics: Metrics): void {
    const unknown = Object.keys(metrics).filter((name) => metricDefinition(name) === undefined);
    if (unknown.length > 0) {
      throw new RangeError(
        `No metric is named ${unknown.map((name) => `"${name}"`).join(', ')}. Define it in metric-names.ts with a unit and a description.`,
      );
    }
    this.#lines.write({ iteration, ...metrics });
    this.#lines.flush();
  }

  close(): void {
    this.#lines.close();
  }
}
