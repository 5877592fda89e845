import { readHarness } from '../../harness/read-harness.ts';

/** Modules that are in the snapshot, so that a run imports them for nothing. */
const preloaded =
  'json,re,math,random,itertools,collections,functools,heapq,bisect,string,datetime,typing,fractions,decimal,io,traceback,linecache,ast,copy,operator,statistics,textwrap,time,dataclasses,enum,abc,contextlib,numbers,codecs,types,inspect,hashlib,array,struct,weakref,csv,pprint,queue,calendar,cmath,difflib,unittest,threading,tempfile,shutil,zipfile,argparse,logging,doctest,timeit,uuid,secrets,asyncio,os,sys,base64,binascii,atexit';

/** Replaces `time.sleep`: WebAssembly cannot be interrupted while it sleeps, but between two short sleeps. */
const interruptibleSleep = `
import time
def __sandbox_sleep(sleep, now, number, shortest):
    def interruptible(seconds, /):
        if not isinstance(seconds, number) or not seconds > shortest: return sleep(seconds)
        until = now() + seconds
        while (left := until - now()) > 0: sleep(min(left, shortest))
    interruptible.__name__ = interruptible.__qualname__ = 'sleep'
    interruptible.__module__ = 'time'
    return interruptible
time.sleep = __sandbox_sleep(time.sleep, time.monotonic, (int, float), 0.02)
`;

/**
 * What Python runs once when the snapshot is made: the modules a program may want, and the harness, which is the same in
 * every sandbox.
 */
export function pythonBoot(): string {
  const sources = JSON.stringify(JSON.stringify(readHarness()));
  return `
import ${preloaded}
${interruptibleSleep}
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
from harness import asserts, channel, program, session, solution
program.use_streams(sys.stdin, sys.stdout, sys.stderr)
def __sandbox_make(program, asserts, solution, Session, Channel):
    # What the program may redefine is kept under names of our own.
    import io, json, os, random, sys
    failed, finish, called, serve, judge = program.failed, program.finish, program.calls, solution.serve, asserts.judge
    loads, write, seed_random, any_error = json.loads, os.write, random.seed, BaseException
    file, buffered, decoded, bad_file = io.FileIO, io.BufferedReader, io.TextIOWrapper, OSError
    started = []
    def lines_to(descriptor):
        def emit(line):
            rest = (line + '\\n').encode()
            while rest:
                rest = rest[write(descriptor, rest):]
        return emit
    def calls(source, entry, arguments, seed, descriptor):
        return called(source, entry, arguments, seed, lines_to(descriptor))
    def serve_tests(source, descriptor, seed):
        seed_random(seed)
        try:
            code = serve(source, Channel(descriptor))
        except bad_file:
            # The tests are over, or the program closed the channel.
            code = 0
        except any_error as error:
            # Four frames are the harness's.
            code = failed(error, 4)
        finish()
        return code
    def run_tests(tests, descriptor, verdicts):
        judge(loads(tests), Channel(descriptor), lines_to(verdicts))
        return 0
    def in_session(source, seed):
        if not started:
            started.append(Session(seed))
        try:
            # What the last program left unread is not this one's.
            sys.stdin = sys.__stdin__ = decoded(buffered(file(0, closefd=False)), 'utf-8')
        except bad_file:
            # The session closed its standard input.
            pass
        try:
            return started[0].run(source)
        except any_error as error:
            # An interrupt that came between the program's end and ours.
            return failed(error, 1)
    return program.run, calls, serve_tests, run_tests, in_session
__sandbox_run, __sandbox_calls, __sandbox_serve, __sandbox_tests, __sandbox_session = __sandbox_make(
    program, asserts, solution, session.Session, channel.Channel)
del asserts, channel, program, session, solution
`;
}
