import { defineConfig } from 'vitest/config'

/**
 * What measures times, uses the machine up or counts what is left behind runs alone and last: on few cores, files side
 * by side would measure each other.
 */
const alone = filesOf({
  e2e: 'lost-children master-crash start-and-stop',
  integration: 'device many-minions strangers untrusted-names',
})
/** They need a process of their own: what they look at, or set, concerns all that is loaded there. */
const own = filesOf({
  'unit/api': 'tracing',
  'unit/cli/authoring': 'salt-ts-link',
  'unit/fileserver': 'sync',
  'unit/loader': 'collect-grains',
  'unit/targets': 'open-match',
  'unit/tracing': 'job-tracer',
})
const heavy = ['test/integration/**/*.test.ts', 'test/e2e/**/*.test.ts']

function filesOf(names: Record<string, string>): string[] {
  return Object.entries(names).flatMap(([folder, files]) =>
    files.split(/\s+/).map((file) => `test/${folder}/${file}.test.ts`),
  )
}

const resolve = { conditions: ['source'] }
const common = {
  pool: 'forks', // zeromq aborts the process when a worker thread with an open socket ends
  // They end a test that hangs; none may take so long on the slowest machine (see test/harness/until.ts).
  testTimeout: 180_000,
  hookTimeout: 180_000,
} as const

const project = (
  name: string,
  files: { readonly include: string[]; readonly exclude?: string[] },
  { workers, order, isolate = true }: { workers: number; order: number; isolate?: boolean },
) => ({
  resolve,
  ssr: { resolve },
  test: { ...common, name, ...files, isolate, maxWorkers: workers, sequence: { groupOrder: order } },
})

export default defineConfig({
  test: {
    globalSetup: 'test/harness/clean-run.ts',
    projects: [
      // Two processes, each loads the modules once for all its files.
      project(
        'parts',
        { include: ['test/**/*.test.ts'], exclude: [...heavy, ...own] },
        { workers: 2, order: 0, isolate: false },
      ),
      // Many start real processes and mostly wait for them.
      project('pairs', { include: [...heavy, ...own], exclude: alone }, { workers: 3, order: 1 }),
      project('whole', { include: alone }, { workers: 1, order: 2 }),
    ],
  },
})
