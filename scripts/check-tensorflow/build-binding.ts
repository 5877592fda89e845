import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

import { tf } from '../../agent_rl/engine/ops.ts';
import { programOutput } from '../bench/peers.ts';

const require = createRequire(import.meta.url);
const bindingPackage = '@tensorflow/tfjs-node@4.22.0';
/** The only one of its dependencies that the kernels load. */
const protobufPackage = 'google-protobuf@3.21.4';

export interface BindingOptions {
  /** Everything is put here. */
  folder: string;
  python: string;
  /** A wheel of tensorflow-cpu to use instead of downloading one. */
  wheel: string | undefined;
  note: (text: string) => void;
}

/**
 * Registers tfjs's `tensorflow` backend: the binding of tfjs-node, compiled against the library inside the wheel of
 * tensorflow-cpu, since the library it would download dates from 2022 and is on a host that is not always reachable.
 */
export async function registerTensorflow(options: BindingOptions): Promise<void> {
  const { folder, note } = options;
  const [library, source] = [path.join(folder, 'wheel'), path.join(folder, 'tfjs-node')];
  await mkdir(library, { recursive: true });
  await mkdir(source, { recursive: true });
  note('Fetching tensorflow-cpu and the sources of the binding');
  const wheel = options.wheel ?? (await downloadWheel(options));
  programOutput(options.python, ['-m', 'zipfile', '-e', wheel, library]);
  await unpack(bindingPackage, source);
  await unpack(protobufPackage, path.join(folder, 'google-protobuf'));
  note('Compiling the binding');
  const root = path.join(source, 'package');
  const binding = path.join(root, 'tfjs_binding.node');
  compile(root, path.join(library, 'tensorflow'), binding);
  await writeTensorFlow(path.join(root, 'node_modules'));
  await link(path.join(folder, 'google-protobuf', 'package'), root, 'google-protobuf');
  const { NodeJSKernelBackend } = require(path.join(root, 'dist/nodejs_kernel_backend.js')) as {
    NodeJSKernelBackend: new (binding: unknown, name: string) => never;
  };
  require(path.join(root, 'dist/register_all_kernels.js'));
  tf.registerBackend(
    'tensorflow',
    () => new NodeJSKernelBackend(require(binding), '@tensorflow/tfjs-node'),
  );
  await tf.findBackendFactory('tensorflow')?.();
}

/**
 * The packages of TensorFlow.js that the binding loads: the instance that is registered with. The binding was compiled for a time
 * before classes, and calls the class that its own extends as a function.
 */
async function writeTensorFlow(modules: string): Promise<void> {
  const bundle = JSON.stringify(require.resolve('#tensorflow'));
  for (const name of ['tfjs', 'tfjs-core']) {
    const folder = path.join(modules, '@tensorflow', name);
    await mkdir(folder, { recursive: true });
    const lines = [
      `const tf = require(${bundle});`,
      `function KernelBackend() {}`,
      `KernelBackend.prototype = tf.KernelBackend.prototype;`,
      `module.exports = { ...tf, KernelBackend };`,
    ];
    await writeFile(path.join(folder, 'index.js'), lines.join('\n'));
  }
}

async function unpack(name: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  programOutput('npm', ['pack', '--silent', '--pack-destination', folder, name]);
  programOutput('tar', ['-xzf', await only(folder, '.tgz'), '-C', folder]);
}

async function downloadWheel({ folder, python }: BindingOptions): Promise<string> {
  const to = path.join(folder, 'download');
  const flags = ['--quiet', '--no-deps', '--only-binary', ':all:', '--dest', to];
  programOutput(python, ['-m', 'pip', 'download', ...flags, 'tensorflow-cpu']);
  return only(to, '.whl');
}

function compile(root: string, tensorflow: string, output: string): void {
  const headers = path.resolve(path.dirname(process.execPath), '..', 'include', 'node');
  if (!existsSync(path.join(headers, 'node_api.h'))) {
    throw new Error(
      `Node's headers are not in ${headers}; install the headers of ${process.version}.`,
    );
  }
  const sources = ['tfjs_backend.cc', 'tfjs_binding.cc'].map((file) =>
    path.join(root, 'binding', file),
  );
  const includes = [headers, path.dirname(root), root, path.join(tensorflow, 'include')];
  const flags = '-std=c++17 -O2 -fPIC -shared -w -DNAPI_VERSION=8'.split(' ');
  const linked = [`-L${tensorflow}`, `-Wl,-rpath,${tensorflow}`];
  const libraries = ['-l:libtensorflow_cc.so.2', '-l:libtensorflow_framework.so.2'];
  const included = includes.flatMap((folder) => ['-I', folder]);
  programOutput('g++', [...flags, ...included, ...sources, '-o', output, ...linked, ...libraries]);
}

/** Lets the binding load a package from where it is: tfjs must be the copy that programs are written in. */
async function link(target: string, root: string, name: string): Promise<void> {
  const place = path.join(root, 'node_modules', name);
  await mkdir(path.dirname(place), { recursive: true });
  await symlink(target, place, 'dir');
}

async function only(folder: string, ending: string): Promise<string> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(ending));
  if (files.length === 1) return path.join(folder, files[0]!);
  throw new Error(`Expected one ${ending} file in ${folder}, found ${files.join(', ') || 'none'}.`);
}
