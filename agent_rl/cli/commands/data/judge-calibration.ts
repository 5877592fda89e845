import { AgentRlError } from '../../../core/errors.ts';
import { command } from '../../command.ts';
import { configOptions } from '../../flags/config-flags.ts';
import { requiredFlag, textFlag } from '../../flags/flag.ts';
import { prepare } from '../../prepare.ts';

export const judgeCalibration = command({
  name: 'judge-calibration',
  describe: 'Compare a reward, such as a model judge, with human labels',
  usage: '--config FILE',
  examples: [
    ['--config judged.yaml --labels labels.jsonl', 'Accuracy and correlation of the model_judge'],
    ['--config judged.yaml --labels labels.jsonl --reward f1', 'The same for another reward'],
  ],
  flags: {
    labels: requiredFlag(
      'JSONL file: {"prompt", "response" or "messages", "label" from 0 to 1, "answer"?, "aliases"?}',
    ),
    reward: textFlag(
      'Name of the reward in the run file (default: the model_judge, if there is only one)',
    ),
  },
  settings: Object.fromEntries(
    Object.entries(configOptions).filter(([name]) => ['config', 'set', 'plugin'].includes(name)),
  ),
  run: async (flags, running) => {
    const { jobs, parsed } = running;
    const { config } = parsed;
    if (typeof config !== 'string')
      throw new AgentRlError(
        'CONFIG_INVALID',
        'No run file is given, so the reward is unknown. Name a run file that lists the reward with --config.',
      );
    return jobs.judgeCalibration({ ...(await prepare(running, { file: config })), ...flags });
  },
});
