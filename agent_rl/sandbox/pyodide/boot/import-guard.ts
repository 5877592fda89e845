/**
 * The functions of JavaScript that WebAssembly may call and still be as before once its memory and its files are put
 * back: they keep nothing, or only what `realm-files.ts` puts back. They are what ordinary programs call. Whatever else a
 * program calls (sockets, names of hosts, pipes, libraries, JavaScript objects) may keep something where no restore looks.
 */
const harmless: readonly string[] = [
  // Values between a program's run and its caller, and calls of functions by their number.
  '_python2js_ascii _python2js_ucs1 _python2js_ucs2 _python2js_ucs4',
  'js2python_js proxy_cache_get JsvArray_Get JsvNoValue_Check JsvNum_fromInt',
  '_PyEM_TrampolineCall_JS _Py_CheckEmscriptenSignals_Helper can_run_sync_js',
  'emscripten_resize_heap',
  // Clocks, and random bytes, which begin anew with each run.
  'clock_time_get clock_res_get emscripten_get_now emscripten_date_now random_get',
  '_localtime_js _mktime_js _gmtime_js _timegm_js _tzset_js',
  // Files and streams.
  'fd_read fd_write fd_pread fd_pwrite fd_seek fd_sync fd_close fd_fdstat_get',
  '_try_fcntl64 __syscall_fcntl64 __syscall_ioctl __syscall_openat __syscall_fstat64',
  '__syscall_stat64 __syscall_lstat64 __syscall_newfstatat __syscall_mkdirat __syscall_renameat',
  '__syscall_unlinkat __syscall_rmdir __syscall_getdents64 __syscall_getcwd __syscall_chdir',
  '__syscall_faccessat __syscall_truncate64 __syscall_ftruncate64 __syscall_utimensat',
  '__syscall_chmod __syscall_symlinkat __syscall_readlinkat __syscall_dup __syscall_dup3',
  '__syscall_umask_js',
].flatMap((names) => names.split(' '));

/**
 * `__guard` as text of the glue: makes every import that is not harmless tell `__doors` that it was called. Those that
 * only call a function of WebAssembly by its number have made-up names that begin with `invoke_`.
 */
export const importGuard = `const __harmless=new Set(${JSON.stringify(harmless)});
const __guard=(imports)=>{
  for(const name of Object.keys(imports)){
    const call=imports[name];
    if(typeof call!=="function"||__harmless.has(name)||name.startsWith("invoke_"))continue;
    imports[name]=Object.assign(function(...values){__doors.used=true;return call.apply(this,values)},call);
  }
};
`;
