import { TEST_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** What ${name} does with the functions of jobs, in a sentence. */
import { executor } from 'salt-ts'

export default executor({
  async execute({ fun, run }, { log }) {
    const since = performance.now()
    try {
      return await run()
    } finally {
      log.info(\`\${fun} took \${Math.round(performance.now() - since)} ms\`)
    }
  },
})
`,
  test: (name) => `${TEST_HEAD}import { fn } from 'salt-ts'
import { run } from 'salt-ts/testing'
import plugin from './${name}.ts'

const executed = (work: () => Promise<unknown>) =>
  fn((_, context) =>
    plugin.execute({ fun: 'test.ping', args: [], kwargs: {}, options: {}, run: work }, context),
  )

test('returns what the function returns, and logs how long it took', async () => {
  const { result, log } = await run(executed(async () => true))
  assert.equal(result, true)
  assert.match(log[0]?.message ?? '', /^test\\.ping took \\d+ ms$/)
})

test('throws what the function throws', async () => {
  const failing = executed(async () => {
    throw new Error('no such host')
  })
  await assert.rejects(run(failing), /no such host/)
})
`,
  tryOut: (name) => `npx salt-call --local -m . -l info test.ping --module-executors ${name}`,
}
