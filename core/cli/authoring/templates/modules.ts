import { RUN_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** What ${name} is for, in a sentence. */
import { fn, p } from 'salt-ts'

/**
 * Say hello.
 *
 * @example salt '*' ${name}.greet Ada times=2
 */
export const greet = fn(
  { name: p.string(), times: p.default(p.integer({ minimum: 1 }), 1) },
  ({ name, times }, { id }) => Array.from({ length: times }, () => \`Hello, \${name}, from \${id}!\`),
)

/**
 * Return the user that the minion runs as.
 *
 * @example salt '*' ${name}.whoami
 */
export const whoami = fn(async (_, { call }) => {
  const answer = await call('cmd.run', { cmd: 'id -un' })
  return answer.trim()
})
`,
  test: (name) => `${RUN_HEAD}import { greet, whoami } from './${name}.ts'

test('greets as often as requested', async () => {
  const { result } = await run(greet, { name: 'Ada', times: 2 }, { id: 'web1' })
  assert.deepEqual(result, ['Hello, Ada, from web1!', 'Hello, Ada, from web1!'])
})

test('refuses to greet zero times', async () => {
  await assert.rejects(run(greet, { name: 'Ada', times: 0 }), /'times' must be at least 1/)
})

test('asks the system for its user', async () => {
  const { result } = await run(whoami, [], { calls: { 'cmd.run': 'ada\\n' } })
  assert.equal(result, 'ada')
})
`,
  tryOut: (name) => `npx salt-call --local -m . ${name}.greet Ada`,
}
