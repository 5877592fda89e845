import { largest } from '../../core/long-lists.ts';
import { countText, percentText, shortNumber } from '../../telemetry/index.ts';
import { type Check, ok, unknown, judged } from './check.ts';

/** Whether the run was meant to learn at all. */
export const control: Check = {
  name: 'control',
  asks: 'Is the run meant to learn?',
  look: ({ settings }) => {
    const value = settings.at('train.control') ?? 'none';
    if (value === 'none') return ok('the run is not a control (train.control)');
    return {
      verdict: 'wrong',
      says: 'the run is a control: its rewards are unrelated to its episodes',
      evidence: [settings.now('train.control')],
      tries: [`set ${settings.now('train.control')} to none`],
    };
  },
};

export const failures: Check = {
  name: 'failures',
  asks: 'Does the system fail?',
  look: ({ settings, series }) => {
    const episodes = series.total('rollout/episodes');
    if (episodes === 0) return unknown('no episodes are recorded');
    const failed = series.total('rollout/failed');
    const share = failed / episodes;
    // A run with the default rollout.failures.maxShare of 5 % stops there.
    const bounds = { wrong: 0.2, suspicious: 0.05 };
    const says = `the system or a tool failed in ${failed} of ${countText(episodes, 'episode')}, ${percentText(share)} (rollout/failed)`;
    return judged(share, bounds, says, {
      evidence: [
        `tried again: ${countText(series.total('rollout/retries'), 'time')} (rollout/retries)`,
      ],
      tries: [
        'see run.log for the reasons; check the machine with agent-rl doctor and agent-rl sandbox doctor',
        `${settings.now('rollout.failures.retries')}, ${settings.now('rollout.outcomes.infrastructure-error')}, ${settings.now('rollout.outcomes.agent-failed')}`,
      ],
      example: 'failed',
    });
  },
};

export const parity: Check = {
  name: 'parity',
  asks: 'Do generator and learner agree?',
  look: ({ settings, series }) => {
    const gaps = series.values('parity/maxAbsLogProbGap');
    if (gaps.length === 0)
      return unknown(
        'generator and learner were not compared: no tokens were trained on, or policy.sampling truncates the distribution',
      );
    const most = largest(gaps);
    const bound = settings.number('train.parityBound.max', 1e-3);
    const says = `generator and learner differ by at most ${shortNumber(most)} nats (parity/maxAbsLogProbGap)`;
    // Rounding alone stays three orders under the default bound of 1e-3 on the CPU, two on CUDA.
    return judged(most / bound, { wrong: 1, suspicious: 0.5 }, says, {
      evidence: [settings.now('train.parityBound.max')],
      tries: ['check your own generator, learner or model: weights or precision differ'],
    });
  },
};

/** Time that goes into waiting for tools. */
export const slowTools: Check = {
  name: 'slow-tools',
  effect: true,
  asks: 'Do tools slow collection down?',
  look: ({ settings, series }) => {
    const collect = series.mean('busy/collect');
    const [tools, sampling] = [series.total('seconds/tools'), series.total('seconds/generation')];
    if (collect === undefined) return unknown('times are not recorded');
    const says = `collection takes ${percentText(collect)} of the time (busy/collect)`;
    // Episodes wait for a place among the workers too; four times is waiting for tools.
    if (collect <= 0.5 || tools <= 4 * sampling) return ok(says);
    return {
      verdict: 'suspicious',
      says: `${says}, and episodes wait for tools over four times as long as they sample (seconds/tools, seconds/generation)`,
      tries: [
        `raise ${settings.now('rollout.workers')}; where programs run, raise ${settings.now('sandbox.workers')} or lower ${settings.now('sandbox.wallS')}`,
      ],
    };
  },
};
