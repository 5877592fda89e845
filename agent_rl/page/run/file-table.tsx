import type { RunFile } from '../../runs/view/api.ts';
import { bytesText } from '../../telemetry/figures.ts';
import { notRecorded } from '../text/format.ts';
import { Table } from '../shell/table.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

interface FileTableProps {
  files: readonly RunFile[];
  checkpoints: readonly string[];
}

/** The files in a run's folder. */
export function FileTable({ files, checkpoints }: FileTableProps) {
  return (
    <section aria-label="Files">
      <h2>Files</h2>
      <p class="note">
        Checkpoints: {checkpoints.length === 0 ? 'none' : escapeUnseen(checkpoints.join(', '))}
      </p>
      <Table label="Files" head={['file', 'size', 'SHA-256']} class="config" isLow>
        {files.map(({ path, bytes, sha256, sha256Problem }) => (
          <tr key={path}>
            <th scope="row">{escapeUnseen(path)}</th>
            <td class="number">{bytesText(bytes)}</td>
            <td>
              {sha256Problem === undefined ? (
                <code>{sha256 ?? notRecorded}</code>
              ) : (
                <span class="problem">{escapeUnseen(sha256Problem)}</span>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
