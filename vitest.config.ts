import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/harness/sequencer.ts'

/** They measure times or use the machine up: such files run alone and last. */
const serial = ['test/**/*.serial.test.ts']
/** They need a process of their own: what they look at, or set, concerns all that is loaded there. */
const isolated = ['test/**/*.isolated.test.ts']

/** They need a server, which may have to be started. */
const servers = ['test/**/*.server.test.ts']

const resolve = { conditions: ['source'] }
const common = {
  pool: 'forks', // zeromq aborts the process when a worker thread with an open socket ends
  // They end a test that hangs; none may take so long on the slowest machine (see test/harness/until.ts).
  testTimeout: 180_000,
  hookTimeout: 180_000,
  // Tests wait for processes and disks, but with more workers a slow machine of two cores answers none of them in time.
  maxWorkers: 4,
  maxConcurrency: 2, // of tests of one file that mostly wait
  isolate: false,
  execArgv: ['--max-semi-space-size=64'] as string[], // MB: garbage of tests is collected in fewer rounds
} as const

/** `--mode quick` leaves out tests that need a server. */
export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: 'test/harness/clean-run.ts',
    sequence: { sequencer: LongestFirst },
    tags: [{ name: 'slow', description: 'Takes long by itself (see test/harness/slow.ts).' }],
    coverage: {
      provider: 'v8',
      include: ['{core,modules,runners,returners,plugins}/**/*.ts'],
    },
    projects: [
      {
        resolve,
        ssr: { resolve },
        // Each process loads the modules once for all its files.
        test: {
          ...common,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...isolated, ...serial, ...(mode === 'quick' ? servers : [])],
        },
      },
      {
        resolve,
        ssr: { resolve },
        test: { ...common, name: 'isolated', include: isolated, isolate: true },
      },
      {
        resolve,
        ssr: { resolve },
        test: { ...common, name: 'serial', include: serial, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
}))
