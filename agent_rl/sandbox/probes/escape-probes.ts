/** Python programs by name, each of which calls `escaped()` if it reached the host. */
export type EscapeProbes = Readonly<Record<string, string>>;

/** JavaScript that is a number only where Node's globals are. */
const seesNode = '(typeof process === "object" && process.pid > 0) ? 7 : 0';

/** The end of a channel to another interpreter, which only a program that is judged has. */
export const channelProbes: EscapeProbes = {
  'descriptor of a channel': `import errno, os
for descriptor in range(3, 64):
    try: os.fstat(descriptor)
    except OSError as error:
        if error.errno != errno.EBADF: escaped()`,
  'stream of a channel': `import pyodide_js
for stream in pyodide_js.FS.streams:
    if stream and stream.node.name == 'channel': escaped()`,
};

/** Ways out that work in an unprotected pyodide, and some that never did. */
export const escapeProbes: EscapeProbes = {
  ...channelProbes,
  'js.process': 'import js\nif js.process.pid: escaped()',
  'js.process.env': 'import js\nstr(js.process.env.PATH); escaped()',
  'js.require': 'import js\njs.require("fs").readFileSync(SECRET_FILE); escaped()',
  getBuiltinModule: 'import js\njs.process.getBuiltinModule("fs"); escaped()',
  'js.eval': `import js\nif js.eval('${seesNode}') == 7: escaped()`,
  'js.Function': `import js\nif js.Function.new('return ${seesNode}')() == 7: escaped()`,
  'js.fetch': 'import js\njs.fetch("http://127.0.0.1:%d/" % PORT); escaped()',
  'js.Worker': 'import js\njs.Worker.new("data:text/javascript,1"); escaped()',
  'js.WebAssembly memory': 'import js\njs.WebAssembly.Memory.new; escaped()',
  'js.process.kill': 'import js\njs.process.kill(js.process.ppid, 0); escaped()',
  run_js: `from pyodide.code import run_js\nif run_js('${seesNode}') == 7: escaped()`,
  'run_js import()': 'from pyodide.code import run_js\nrun_js("import(\'node:fs\')"); escaped()',
  'constructor of pyodide_js': `import pyodide_js\nif pyodide_js.constructor.constructor('return ${seesNode}')() == 7: escaped()`,
  'constructor of a list': `from pyodide.ffi import to_js\nif to_js([1]).constructor.constructor('return ${seesNode}')() == 7: escaped()`,
  'constructor of bytes': `from pyodide.ffi import to_js\nif to_js(b"a").constructor.constructor('return ${seesNode}')() == 7: escaped()`,
  'constructor of a JavaScript error': `from pyodide.ffi import to_js, JsException
try: to_js([1]).reduce(1)
except JsException as e:
    c = e.js_error.constructor.constructor
    if c('return ${seesNode}')() == 7: escaped()`,
  'proxies in modules': `import sys
from pyodide.ffi import JsProxy
for module in list(sys.modules.values()):
    for value in list(vars(module).values()):
        if isinstance(value, JsProxy):
            try:
                if value.constructor.constructor('return ${seesNode}')() == 7: escaped()
            except Exception: pass`,
  'importers of JavaScript': `import sys
for finder in sys.meta_path:
    for value in list(getattr(finder, 'jsproxies', {}).values()):
        try:
            if value.constructor.constructor('return ${seesNode}')() == 7: escaped()
        except Exception: pass`,
  mountNodeFS:
    'import pyodide_js, os\npyodide_js.mountNodeFS("/host", "/")\nif os.listdir("/host"): escaped()',
  NODEFS: `import pyodide_js, os
from pyodide.ffi import to_js
FS = pyodide_js.FS
os.mkdir("/host2")
FS.mount(FS.filesystems.NODEFS, to_js({"root": "/"}), "/host2")
if os.listdir("/host2"): escaped()`,
  loadPackage: 'import pyodide_js\nif pyodide_js.loadPackage(SECRET_FILE) is None: escaped()',
  emscripten_run_script: `import ctypes\nif ctypes.CDLL(None).emscripten_run_script_int(b'${seesNode}') == 7: escaped()`,
  dlopen: 'import _ctypes\n_ctypes.dlopen(SECRET_FILE, 2)\nescaped()',
  'os.system': 'import os\nif os.system("echo x > " + WITNESS_FILE) == 0: escaped()',
  'os.popen': 'import os\nif os.popen("echo x").read(): escaped()',
  subprocess: 'import subprocess\nsubprocess.run(["echo", "x"])\nescaped()',
  'os.fork': 'import os\nos.fork()\nescaped()',
  'os.execv': 'import os\nos.execv("/bin/sh", ["sh", "-c", "echo x > " + WITNESS_FILE])',
  'secret file': 'if CANARY in open(SECRET_FILE).read(): escaped()',
  '/proc': 'if open("/proc/self/environ").read(): escaped()',
  'write a file': 'open(WITNESS_FILE, "w").write("x")',
  TCP: 'import socket\ns = socket.create_connection(("127.0.0.1", PORT), 1)\ns.send(b"x")\nif s.recv(1): escaped()',
  urllib: 'import urllib.request\nurllib.request.urlopen("http://127.0.0.1:%d/" % PORT)\nescaped()',
  'pyodide.http':
    'from pyodide.http import open_url\nopen_url("http://127.0.0.1:%d/" % PORT).read()\nescaped()',
};
