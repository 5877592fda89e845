import { listDevices } from '../../engine/open-engine.ts';

/*
 * Entry of the process that tries every device: graphics drivers write to its standard error as they please, and may
 * even end it.
 */

if (process.send === undefined) throw new Error('device-process runs as a child process only.');
process.send(await listDevices());
process.disconnect();
