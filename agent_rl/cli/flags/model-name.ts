import { existsSync } from 'node:fs';

import { hubModelOf } from '../../../model/find/hub/hub-model.ts';
import type { Override } from '../../config/index.ts';
import { placesOf } from '../../core/package-root.ts';

/** Whether a name can only be that of a model on the hub: it looks like one, and no such folder is there. */
const isOnHub = (name: string): boolean =>
  hubModelOf(name) !== undefined && !placesOf(name).some((place) => existsSync(place));

/** `--model` as settings: a folder is `model.path`, which counts only where `model.hfModelName` is absent. */
export const modelOverrides = (source: string, name: string): Override[] =>
  isOnHub(name)
    ? [{ source, path: 'model.hfModelName', value: name }]
    : [
        { source, path: 'model.path', value: name },
        { source, path: 'model.hfModelName', value: undefined },
      ];
