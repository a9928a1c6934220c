import { TEST_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** What the grains of ${name} say of a host, in a sentence. */
import { readFile } from 'node:fs/promises'
import { grains } from 'salt-ts'

export default grains({
  async collect({ log }) {
    const text = await readFile('/etc/${name}', 'utf8').catch(() => undefined)
    if (text === undefined) log.debug('There is no /etc/${name}')
    return { ${name}: text?.trim() ?? 'unknown' }
  },
})
`,
  test: (name) => `${TEST_HEAD}import { fakeLog } from 'salt-ts/testing'
import source from './${name}.ts'

test('a host without the file is unknown', async () => {
  const { log } = fakeLog()
  assert.deepEqual(await source.collect({ opts: {}, grains: {}, log }), { ${name}: 'unknown' })
})
`,
  tryOut: (name) => `npx salt-call --local -m . grains.item ${name}`,
}
