/** As `kill -9`, but never of the tests' own process group, which is what the process with the number 0 stands for. */
export function killProcess(pid: number | undefined): void {
  if (pid === undefined || pid <= 0) throw new Error(`No process to kill: its number is ${pid}`);
  process.kill(pid, 'SIGKILL');
}
