import { RUN_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** What ${name} is for, in a sentence. */
import { fn, p } from 'salt-ts'

/**
 * List the minions that answer, and those that do not.
 *
 * @example salt-run ${name}.answering 'web*'
 */
export const answering = fn({ tgt: p.default(p.string(), '*') }, async ({ tgt }, { master }) => {
  const yes: string[] = []
  const no: string[] = []
  for await (const { id, missing } of master.run({ tgt, fun: 'test.ping' })) (missing ? no : yes).push(id)
  return { yes: yes.sort(), no: no.sort() }
})
`,
  test: (name) => `${RUN_HEAD}import { answering } from './${name}.ts'

test('separates minions that answer from those that do not', async () => {
  const { result } = await run(answering, { tgt: 'web*' }, {
    master: {
      async *run({ tgt }) {
        assert.equal(tgt, 'web*')
        yield { id: 'web2', return: undefined, missing: 'it is not connected' }
        yield { id: 'web1', return: true }
      },
    },
  })
  assert.deepEqual(result, { yes: ['web1'], no: ['web2'] })
})
`,
  tryOut: (name) =>
    `npx salt-run ${name}.answering  # on the master's host, where module_dirs names this folder`,
}
