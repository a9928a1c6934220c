/** Provided by `bin/start.cjs` to code that it runs from V8's code cache, where `import()` fails. */
declare const importFromCached: ((specifier: string) => Promise<unknown>) | undefined

/** Import a module whose name is known only at run time, or that is loaded lazily from another package. */
export const importModule = (specifier: string): Promise<unknown> =>
  typeof importFromCached === 'function' ? importFromCached(specifier) : import(/* @vite-ignore */ specifier)
