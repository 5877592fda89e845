import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { mlflowDouble } from '#tests/support/mlflow/mlflow-double.ts';
import {
  askMlflow,
  type ComparableAnswer,
  withoutWords,
} from '#tests/support/mlflow/mlflow-exchanges.ts';

test('the double answers as MLflow 3.17.2 did', async () => {
  const file = join(packageRoot(), 'tests', 'fixtures', 'mlflow', 'answers.json');
  const real = JSON.parse(readFileSync(file, 'utf8')) as ComparableAnswer[];
  const double = await mlflowDouble();
  try {
    expect(withoutWords(await askMlflow(double.url))).toEqual(withoutWords(real));
  } finally {
    await double.close();
  }
});
