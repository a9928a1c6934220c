import { TEST_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** What ${name} does beside a master or a minion, in a sentence. */
import { engine, p } from 'salt-ts'

export default engine({
  options: { tag: p.default(p.string(), 'salt/auth') },
  async start({ options, events, log }) {
    for await (const { tag, data } of events.listen(options.tag)) log.info(\`\${tag} of \${data.id}\`)
  },
})
`,
  test: (name) => `${TEST_HEAD}import { fakeLog } from 'salt-ts/testing'
import plugin from './${name}.ts'

test('logs the id in each event', async () => {
  const { log, lines } = fakeLog()
  await plugin.start({
    options: { tag: 'salt/auth' },
    role: 'master',
    id: 'master1',
    opts: {},
    grains: {},
    events: {
      async *listen(prefix) {
        assert.equal(prefix, 'salt/auth')
        yield { tag: 'salt/auth', data: { id: 'web1' } }
      },
      fire: async () => {},
      fireMaster: async () => {},
    },
    log,
    signal: new AbortController().signal,
  })
  assert.deepEqual(
    lines.map(({ message }) => message),
    ['salt/auth of web1'],
  )
})
`,
  tryOut: (name) =>
    `echo 'engines: [${name}]'  # into the configuration of a master or a minion, beside module_dirs`,
}
