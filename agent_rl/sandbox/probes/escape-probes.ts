/** A Python program that calls `escaped()` if it got at the host. */
export interface EscapeProbe {
  name: string;
  code: string;
}

/** JavaScript that is a number only where Node's globals are. */
const seesNode = '(typeof process === "object" && process.pid > 0) ? 7 : 0';

const probe = (name: string, code: string): EscapeProbe => ({ name, code });

/** The end of a channel to another interpreter, which only a program that is judged has. */
export const channelProbes: readonly EscapeProbe[] = [
  probe(
    'descriptor of a channel',
    `import errno, os
for descriptor in range(3, 64):
    try: os.fstat(descriptor)
    except OSError as error:
        if error.errno != errno.EBADF: escaped()`,
  ),
  probe(
    'stream of a channel',
    `import pyodide_js
for stream in pyodide_js.FS.streams:
    if stream and stream.node.name == 'channel': escaped()`,
  ),
];

/** Ways out that work in an unprotected pyodide, and some that never did. */
export const escapeProbes: readonly EscapeProbe[] = [
  ...channelProbes,
  probe('js.process', 'import js\nif js.process.pid: escaped()'),
  probe('js.process.env', 'import js\nstr(js.process.env.PATH); escaped()'),
  probe('js.require', 'import js\njs.require("fs").readFileSync(SECRET_FILE); escaped()'),
  probe('getBuiltinModule', 'import js\njs.process.getBuiltinModule("fs"); escaped()'),
  probe('js.eval', `import js\nif js.eval('${seesNode}') == 7: escaped()`),
  probe('js.Function', `import js\nif js.Function.new('return ${seesNode}')() == 7: escaped()`),
  probe('js.fetch', 'import js\njs.fetch("http://127.0.0.1:%d/" % PORT); escaped()'),
  probe('js.Worker', 'import js\njs.Worker.new("data:text/javascript,1"); escaped()'),
  probe('js.WebAssembly memory', 'import js\njs.WebAssembly.Memory.new; escaped()'),
  probe('js.process.kill', 'import js\njs.process.kill(js.process.ppid, 0); escaped()'),
  probe('run_js', `from pyodide.code import run_js\nif run_js('${seesNode}') == 7: escaped()`),
  probe(
    'run_js import()',
    'from pyodide.code import run_js\nrun_js("import(\'node:fs\')"); escaped()',
  ),
  probe(
    'constructor of pyodide_js',
    `import pyodide_js\nif pyodide_js.constructor.constructor('return ${seesNode}')() == 7: escaped()`,
  ),
  probe(
    'constructor of a list',
    `from pyodide.ffi import to_js\nif to_js([1]).constructor.constructor('return ${seesNode}')() == 7: escaped()`,
  ),
  probe(
    'constructor of bytes',
    `from pyodide.ffi import to_js\nif to_js(b"a").constructor.constructor('return ${seesNode}')() == 7: escaped()`,
  ),
  probe(
    'constructor of a JavaScript error',
    `from pyodide.ffi import to_js, JsException
try: to_js([1]).reduce(1)
except JsException as e:
    c = e.js_error.constructor.constructor
    if c('return ${seesNode}')() == 7: escaped()`,
  ),
  probe(
    'proxies in modules',
    `import sys
from pyodide.ffi import JsProxy
for module in list(sys.modules.values()):
    for value in list(vars(module).values()):
        if isinstance(value, JsProxy):
            try:
                if value.constructor.constructor('return ${seesNode}')() == 7: escaped()
            except Exception: pass`,
  ),
  probe(
    'importers of JavaScript',
    `import sys
for finder in sys.meta_path:
    for value in list(getattr(finder, 'jsproxies', {}).values()):
        try:
            if value.constructor.constructor('return ${seesNode}')() == 7: escaped()
        except Exception: pass`,
  ),
  probe(
    'mountNodeFS',
    'import pyodide_js, os\npyodide_js.mountNodeFS("/host", "/")\nif os.listdir("/host"): escaped()',
  ),
  probe(
    'NODEFS',
    `import pyodide_js, os
from pyodide.ffi import to_js
FS = pyodide_js.FS
os.mkdir("/host2")
FS.mount(FS.filesystems.NODEFS, to_js({"root": "/"}), "/host2")
if os.listdir("/host2"): escaped()`,
  ),
  probe(
    'loadPackage',
    'import pyodide_js\nif pyodide_js.loadPackage(SECRET_FILE) is None: escaped()',
  ),
  probe(
    'emscripten_run_script',
    `import ctypes\nif ctypes.CDLL(None).emscripten_run_script_int(b'${seesNode}') == 7: escaped()`,
  ),
  probe('dlopen', 'import _ctypes\n_ctypes.dlopen(SECRET_FILE, 2)\nescaped()'),
  probe('os.system', 'import os\nif os.system("echo x > " + WITNESS_FILE) == 0: escaped()'),
  probe('os.popen', 'import os\nif os.popen("echo x").read(): escaped()'),
  probe('subprocess', 'import subprocess\nsubprocess.run(["echo", "x"])\nescaped()'),
  probe('os.fork', 'import os\nos.fork()\nescaped()'),
  probe('os.execv', 'import os\nos.execv("/bin/sh", ["sh", "-c", "echo x > " + WITNESS_FILE])'),
  probe('secret file', 'if CANARY in open(SECRET_FILE).read(): escaped()'),
  probe('/proc', 'if open("/proc/self/environ").read(): escaped()'),
  probe('write a file', 'open(WITNESS_FILE, "w").write("x")'),
  probe(
    'TCP',
    'import socket\ns = socket.create_connection(("127.0.0.1", PORT), 1)\ns.send(b"x")\nif s.recv(1): escaped()',
  ),
  probe(
    'urllib',
    'import urllib.request\nurllib.request.urlopen("http://127.0.0.1:%d/" % PORT)\nescaped()',
  ),
  probe(
    'pyodide.http',
    'from pyodide.http import open_url\nopen_url("http://127.0.0.1:%d/" % PORT).read()\nescaped()',
  ),
];
