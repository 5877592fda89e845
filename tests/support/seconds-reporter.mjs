/** The seconds of a test file; of a file that imports others, the seconds of the tests of each. */
const secondsByFile = ({ displayName, testFilePath, perfStats, testResults }) => {
  const project = displayName?.name ?? 'tests';
  if (!testFilePath.includes('/test-groups/')) {
    const path = testFilePath.replace(`${process.cwd()}/`, '');
    return [{ project, path, seconds: (perfStats.end - perfStats.start) / 1000 }];
  }
  const seconds = new Map();
  for (const { ancestorTitles, duration } of testResults) {
    const path = ancestorTitles[0] ?? testFilePath;
    seconds.set(path, (seconds.get(path) ?? 0) + (duration ?? 0) / 1000);
  }
  return [...seconds].map(([path, sum]) => ({ project, path, seconds: sum }));
};

/** Prints the seconds of each project and of the ten slowest files after a run of many test files. */
export default class SecondsReporter {
  onRunComplete(_contexts, { testResults }) {
    if (testResults.length < 8) return;
    const files = testResults.flatMap(secondsByFile).toSorted((a, b) => b.seconds - a.seconds);
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
