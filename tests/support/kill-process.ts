/** As `kill -9`, but never of the tests' own process group, which is what the process with the number 0 stands for. */
export const killProcess = (pid: number | undefined): void => signalTo(pid, 'SIGKILL');

/** As `kill -STOP`: it is there and does nothing. */
export const stopProcess = (pid: number | undefined): void => signalTo(pid, 'SIGSTOP');

function signalTo(pid: number | undefined, signal: 'SIGKILL' | 'SIGSTOP'): void {
  if (pid === undefined || pid <= 0)
    throw new Error(`No process for ${signal}: its number is ${pid}`);
  process.kill(pid, signal);
}
