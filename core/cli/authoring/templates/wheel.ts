import { RUN_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** What ${name} changes in the master, in a sentence. */
import { fn, p } from 'salt-ts'

/**
 * Keep jobs for some days, from the next start of the master on. Returns the path of the file that says so.
 *
 * @example salt-run wheel ${name}.keep_jobs 7
 */
export const keep_jobs = fn({ days: p.integer({ minimum: 1 }) }, ({ days }, { master }) =>
  master.writeConfig('${name}', { keep_jobs_seconds: days * 24 * 60 * 60 }),
)
`,
  test: (name) => `${RUN_HEAD}import { keep_jobs } from './${name}.ts'

test('writes the time in seconds', async () => {
  const { result } = await run(keep_jobs, { days: 7 }, {
    master: {
      async writeConfig(file, options) {
        assert.deepEqual(options, { keep_jobs_seconds: 604_800 })
        return \`master.d/\${file}.conf\`
      },
    },
  })
  assert.equal(result, 'master.d/${name}.conf')
})

test('refuses to keep no jobs', async () => {
  await assert.rejects(run(keep_jobs, { days: 0 }, { master: {} }), /'days' must be at least 1/)
})
`,
  tryOut: (name) => `npx salt-run -m . wheel ${name}.keep_jobs 7  # on the master's host`,
}
