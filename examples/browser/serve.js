// Serves the current folder to this machine: node examples/browser/serve.js [PORT]
import { createReadStream, existsSync, realpathSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, sep } from 'node:path';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};
const root = realpathSync('.');
const port = Number(process.argv[2] ?? 8000);

function fileOf(address) {
  const path = join(root, decodeURIComponent(new URL(address, 'http://here').pathname));
  if (!existsSync(path)) return undefined;
  const file = realpathSync(statSync(path).isDirectory() ? join(path, 'index.html') : path);
  // Any page on this machine may send requests, so hidden files and links that lead out of the folder are refused.
  const isInside = file.startsWith(root + sep) && !file.slice(root.length).includes(`${sep}.`);
  return isInside && statSync(file).isFile() ? file : undefined;
}

const server = createServer((request, response) => {
  let file;
  try {
    file = fileOf(request.url);
  } catch {
    // Not an address of a file.
  }
  if (file === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, {
    'content-type': types[extname(file)] ?? 'application/octet-stream',
    'content-length': statSync(file).size,
    // Without these two a browser gives WebAssembly one thread.
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
  });
  if (request.method === 'HEAD') response.end();
  else createReadStream(file).pipe(response);
});
server.listen(port, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
