import { readHarness } from '../harness/read-harness.ts';

/** Modules that are in the snapshot, so that a run imports them for nothing. */
const preloaded =
  'json,re,math,random,itertools,collections,functools,heapq,bisect,string,datetime,typing,fractions,decimal,io,traceback,linecache,ast,copy,operator,statistics,textwrap,time,dataclasses,enum,abc,contextlib,numbers,codecs,types,inspect,hashlib,array,struct,weakref,csv,pprint,queue,calendar,cmath,difflib,unittest,threading,tempfile,shutil,zipfile,argparse,logging,doctest,timeit,uuid,secrets,asyncio,os,sys,base64,binascii,atexit';

/**
 * What Python runs once when the snapshot is made: the modules a program may want, and the harness, which is the same in
 * every sandbox.
 */
export function pythonBoot(): string {
  const sources = JSON.stringify(JSON.stringify(readHarness()));
  return `
import ${preloaded}
import sys, types
def __sandbox_load(modules):
    for name, source in modules:
        full = 'harness' if name == '__init__' else 'harness.' + name
        module = types.ModuleType(full)
        if name == '__init__': module.__path__ = []
        else: module.__package__ = 'harness'
        sys.modules[full] = module
        exec(compile(source, full + '.py', 'exec', dont_inherit=True), module.__dict__)
__sandbox_load(json.loads(${sources}))
from harness import program as __sandbox_program
__sandbox_program.use_streams(sys.stdin, sys.stdout, sys.stderr)
def __sandbox_make(run, calls):
    def collect(source, entry, arguments, seed):
        results = []
        code = calls(source, entry, arguments, seed, results.append)
        return str(code) + '\\n[' + ','.join(results) + ']'
    return run, collect
__sandbox_run, __sandbox_calls = __sandbox_make(__sandbox_program.run, __sandbox_program.calls)
`;
}
