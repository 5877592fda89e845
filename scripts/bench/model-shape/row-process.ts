import { measureRow } from './measure-row.ts';
import type { RowOrder } from './tasks.ts';

/* One row in a process of its own: the order as JSON in the first argument, the answer as JSON on stdout. */
const order = JSON.parse(process.argv[2] ?? '') as RowOrder;
process.stdout.write(`${JSON.stringify(await measureRow(order))}\n`);
