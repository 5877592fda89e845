import { mkdir, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';

import { stringify } from 'yaml';

import { type TrackedEvent, type Tracker, tracker } from '../../core/plugins/tracker.ts';
import type { TrackedMetrics, TrackedRun } from '../../core/run-event.ts';
import { RecordedSteps } from '../recorded-steps.ts';
import { EventFile } from './event-file.ts';
import { readEvent, scalarsEvent, textEvent } from './events.ts';
import { wholeRecords } from './records.ts';

const prefix = 'events.out.tfevents.';
/** The file of the evaluation after training, which a resume makes again. */
const afterSuffix = '.after';

/**
 * Writes event files into the folder `tensorboard` of the run, one a session. A resume cuts off what lies behind its
 * checkpoint, so that each iteration is there once. TensorBoard's scalars are float32.
 */
@tracker({
  name: 'tensorboard',
  description:
    "Writes event files for TensorBoard to the run's folder: metrics, evaluations, settings",
})
export class TensorBoardTracker implements Tracker {
  #path = '';
  #file: EventFile | undefined;
  #afterFile: EventFile | undefined;
  readonly #recorded = new RecordedSteps();

  async track(event: TrackedEvent): Promise<void> {
    const { type, time } = event;
    if (type === 'start') await this.#start(event.run, time);
    if (type !== 'iteration' && type !== 'evaluation') return;
    const { iteration: step, metrics } = event;
    const after = type === 'evaluation' && event.when === 'after';
    if (after)
      this.#afterFile ??= await EventFile.create(`${this.#path}${afterSuffix}`, { time, step });
    await this.#write({ time, step }, metrics, after ? this.#afterFile : this.#file);
  }

  async close(): Promise<void> {
    await Promise.all([this.#file?.close(), this.#afterFile?.close()]);
  }

  async #start({ folder, config, from = -1 }: TrackedRun, time: number): Promise<void> {
    const own = join(folder, 'tensorboard');
    await mkdir(own, { recursive: true });
    const earlier = (await readdir(own)).filter((name) => name.startsWith(prefix));
    for (const name of earlier) await this.#cut(join(own, name), from);
    // TensorBoard reads files in the order of their names.
    const number = String(earlier.length).padStart(4, '0');
    const seconds = String(Math.floor(time / 1000));
    this.#path = join(own, `${prefix}${seconds}.agent-rl.${process.pid}.${number}`);
    const place = { time, step: Math.max(0, from) };
    this.#file = await EventFile.create(this.#path, place);
    // Four spaces make it a block of code.
    const text = stringify(config).replaceAll(/^/gm, '    ');
    await this.#file.append(textEvent(place, 'config', text));
  }

  /** Adds the numbers that are not there yet: an evaluation's come again with their iteration. */
  async #write(
    place: { time: number; step: number },
    metrics: TrackedMetrics,
    file: EventFile | undefined,
  ): Promise<void> {
    if (file === undefined) throw new Error('its files could not be opened');
    const scalars = this.#recorded.fresh(place.step, metrics);
    if (scalars.length > 0) await file.append(scalarsEvent(place, scalars));
    this.#recorded.add(
      place.step,
      scalars.map(([tag]) => tag),
    );
  }

  /** Leaves of an earlier session's file what is not done again. */
  async #cut(file: string, from: number): Promise<void> {
    if (file.endsWith(afterSuffix)) return rm(file);
    let end = 0;
    let scalars = 0;
    for (const whole of wholeRecords(await readFile(file))) {
      const { step, tags } = readEvent(whole.payload);
      if (step > from) break;
      this.#recorded.add(step, tags);
      scalars += tags.length;
      ({ end } = whole);
    }
    await (scalars === 0 ? rm(file) : truncate(file, end));
  }
}
