import { defineConfig } from 'vitest/config'

/**
 * Many start real processes and mostly wait for them: they run in pairs. What looks at times, uses a machine up or counts
 * what is left behind runs alone and last: on few cores, files side by side would measure each other.
 */
const pairs = {
  e2e: `background-runs commands distribution extensions guides job-ends main-job master-restart new-user options-*
    package readme reconnect salt-ts start watch`,
  integration: 'checked-calls file-paths long-outage',
}
const inPairs = Object.entries(pairs).flatMap(([folder, names]) =>
  names.split(/\s+/).map((name) => `test/${folder}/${name}.test.ts`),
)
const heavy = ['test/integration/**/*.test.ts', 'test/e2e/**/*.test.ts']

const resolve = { conditions: ['source'] }
const common = {
  pool: 'forks', // zeromq aborts the process when a worker thread with an open socket ends
  testTimeout: 30_000,
  hookTimeout: 60_000,
} as const

const project = (
  name: string,
  files: { readonly include: string[]; readonly exclude?: string[] },
  maxWorkers: number,
  groupOrder: number,
) => ({
  resolve,
  ssr: { resolve },
  test: { ...common, name, ...files, maxWorkers, sequence: { groupOrder } },
})

export default defineConfig({
  test: {
    globalSetup: 'test/harness/clean-run.ts',
    projects: [
      project('parts', { include: ['test/**/*.test.ts'], exclude: heavy }, 2, 0),
      project('pairs', { include: inPairs }, 2, 1),
      project('whole', { include: heavy, exclude: inPairs }, 1, 2),
    ],
  },
})
