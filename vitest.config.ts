import { defineConfig } from 'vitest/config'

/** What starts real processes runs alone and last: on few cores, files side by side would measure each other. */
const heavy = ['test/integration/**/*.test.ts', 'test/e2e/**/*.test.ts']

const resolve = { conditions: ['source'] }
const common = {
  pool: 'forks', // zeromq aborts the process when a worker thread with an open socket ends
  testTimeout: 30_000,
  hookTimeout: 60_000,
} as const

export default defineConfig({
  test: {
    globalSetup: 'test/harness/clean-run.ts',
    projects: [
      {
        resolve,
        ssr: { resolve },
        test: {
          ...common,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: heavy,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve,
        ssr: { resolve },
        test: {
          ...common,
          name: 'whole',
          include: heavy,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
