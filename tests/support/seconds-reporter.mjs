/** Prints the seconds of each project and of the ten slowest files after a run of many test files. */
export default class SecondsReporter {
  onRunComplete(_contexts, { testResults }) {
    if (testResults.length < 20) return;
    const files = testResults
      .map(({ displayName, testFilePath, perfStats }) => ({
        project: displayName?.name ?? 'tests',
        path: testFilePath.replace(`${process.cwd()}/`, ''),
        seconds: (perfStats.end - perfStats.start) / 1000,
      }))
      .toSorted((a, b) => b.seconds - a.seconds);
    const lines = [...new Set(files.map(({ project }) => project))]
      .toSorted((a, b) => a.localeCompare(b))
      .map((project) => {
        const own = files.filter((file) => file.project === project);
        const seconds = own.reduce((sum, file) => sum + file.seconds, 0);
        return `${seconds.toFixed(0).padStart(6)} s  ${project} (${own.length} files)`;
      });
    const slowest = files
      .slice(0, 10)
      .map(({ seconds, path }) => `${seconds.toFixed(1).padStart(6)} s  ${path}`);
    console.log(['\nSeconds by project', ...lines, 'Slowest files', ...slowest].join('\n'));
  }
}
