/** Styles of the page, light and dark. */
export const pageStyles = `
:root { color-scheme: light dark; --text: #1f2937; --soft: #6b7280; --line: #e5e7eb; --ground: #fff; --box: #f9fafb;
  --accent: #1d4ed8; --good: #047857; --bad: #b91c1c; --thought: #7e22ce; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e5e7eb; --soft: #9ca3af; --line: #374151; --ground: #111827; --box: #1f2937;
    --accent: #60a5fa; --good: #34d399; --bad: #f87171; --thought: #c084fc; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 920px; padding: 24px 20px 64px; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 26px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 40px 0 12px; padding-top: 12px; border-top: 1px solid var(--line); }
h3 { font-size: 15px; margin: 28px 0 2px; }
p { overflow-wrap: anywhere; }
.about { color: var(--soft); margin: 2px 0 12px; }
.lead { font-size: 18px; line-height: 1.45; }
nav { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 14px; }
a { color: var(--accent); }
.wide { overflow-x: auto; margin: 12px 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { text-align: left; padding: 5px 16px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; font-weight: 400; }
.short { white-space: nowrap; } .long { overflow-wrap: anywhere; min-width: 300px; }
thead th { color: var(--soft); font-size: 13px; white-space: nowrap; }
pre { font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
section > pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: 10px 12px; }
.curves { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 16px; }
.across { grid-column: 1 / -1; overflow-x: auto; } .across svg { min-width: 640px; }
figure { margin: 0; } svg { display: block; width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: 13px; }
@media (max-width: 700px) { .curves { grid-template-columns: minmax(0, 1fr); } }
.entry { border-left: 3px solid var(--line); padding: 2px 0 2px 12px; margin: 8px 0; max-height: 480px; overflow-y: auto; }
.label { color: var(--soft); font-size: 12px; }
.user, .system { border-color: var(--accent); }
.thought { border-color: var(--thought); } .thought pre { color: var(--soft); }
.call { border-color: var(--text); } .call pre { font-weight: 600; }
.tool { border-color: var(--good); background: var(--box); }
.failure { border-color: var(--bad); background: var(--box); } .failure .label { color: var(--bad); }
@media print { .entry { max-height: none; } body { max-width: none; } }
`;
