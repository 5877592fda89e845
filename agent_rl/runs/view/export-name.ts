/** Long names are not allowed by file systems; a hash distinguishes names that are cut. */
const longest = 100;

/**
 * The file of an exported answer, by the path and query it answers: `/api/runs/one/episodes/train/3/a/0` is
 * `api/runs/one/episodes/train/3/a/0.js`. Safe on every file system, whatever a task is called: capital letters and signs are
 * written as `~` and their code. Server and page both use it.
 */
export function exportName(request: string): string {
  const [path = '', query = ''] = request.split('?', 2);
  const steps = path.split('/').filter((step) => step !== '');
  const all = query === '' ? steps : [...steps, query];
  return `${all.map(safeStep).join('/')}.js`;
}

function safeStep(step: string): string {
  const safe = step.replaceAll(
    /[^a-z0-9_-]/g,
    (sign) => `~${sign.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return safe.length <= longest ? safe : `${safe.slice(0, longest - 14)}~~${hashOf(step)}`;
}

/** FNV-1a twice, of 32 bits each. */
function hashOf(text: string): string {
  let [one, two] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at++) {
    one = Math.imul(one ^ text.charCodeAt(at), 0x01000193);
    two = Math.imul(two ^ text.charCodeAt(text.length - 1 - at), 0x01000193);
  }
  return [one, two].map((part) => (part >>> 0).toString(36).padStart(7, '0').slice(-6)).join('');
}
