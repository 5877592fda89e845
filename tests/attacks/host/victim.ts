import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const caught = ['HUP', 'INT', 'QUIT', 'TERM', 'USR2', 'CONT', 'WINCH', 'ALRM', 'URG'];
// Prints that it is ready, and then the name of each signal that reaches it. Ends with its parent.
const program = `
for (const name of ${JSON.stringify(caught)}) process.on('SIG' + name, () => console.log(name));
process.stdin.on('end', () => process.exit()).resume();
console.log('ready');`;

/** Fields of `/proc/PID/stat` behind the name: priority, nice, and at the end real-time priority and policy. */
function schedulingOf(pid: number): string {
  if (process.platform !== 'linux') return '';
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const allowed = /Cpus_allowed:.*/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[0];
  return [fields[15], fields[16], fields[37], fields[38], allowed].join(' ');
}

/** A harmless process of the user that runs the sandbox. */
export class Victim {
  #process!: ChildProcess;
  #signals = new Set<string>();
  #scheduling = '';

  static async start(): Promise<Victim> {
    const victim = new Victim();
    await victim.#start();
    return victim;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Reports what was done to it since the last call. Starts another one if it is dead. */
  async takeHarm(): Promise<readonly string[]> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) {
      await this.#start();
      return [`ended the victim process by ${signalCode ?? exitCode}`];
    }
    const harm = [...this.#signals].map((name) => `sent ${name} to the victim process`);
    this.#signals.clear();
    const scheduling = schedulingOf(this.pid);
    if (scheduling !== this.#scheduling) {
      harm.push(`scheduled the victim process anew: ${this.#scheduling} became ${scheduling}`);
      await this.stop();
      await this.#start();
    }
    return harm;
  }

  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }

  async #start(): Promise<void> {
    this.#signals = new Set();
    const stdio = ['pipe', 'pipe', 'ignore'] as const;
    this.#process = spawn(process.execPath, ['-e', program], { stdio: [...stdio], env: {} });
    const { stdout } = this.#process;
    if (stdout === null) throw new Error('The victim process has no standard output.');
    stdout.setEncoding('utf8');
    await once(stdout, 'data');
    stdout.on('data', (text: string) => {
      for (const name of text.trim().split('\n')) this.#signals.add(name);
    });
    this.#scheduling = schedulingOf(this.pid);
  }
}
