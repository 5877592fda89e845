/** A page, Markdown for pull requests and READMEs, or a picture of the curves alone. */
export const reportFormats = ['html', 'md', 'svg'] as const;

export type ReportFormat = (typeof reportFormats)[number];
