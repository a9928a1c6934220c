import { TEST_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** Which minions ${name} matches, in a sentence. */
import { matcher } from 'salt-ts'

export default matcher({
  match: (expression, { grains }) => (grains ? grains.host === expression : 'unknown'),
})
`,
  test: (name) => `${TEST_HEAD}import plugin from './${name}.ts'

const options = { delimiter: ':', nodegroups: {}, match: () => 'unknown' as const }

test('matches the minion of that host', () => {
  assert.equal(plugin.match('web1', { id: 'm1', grains: { host: 'web1' } }, options), true)
  assert.equal(plugin.match('web2', { id: 'm1', grains: { host: 'web1' } }, options), false)
})

test('does not guess without grains', () => {
  assert.equal(plugin.match('web1', { id: 'm1' }, options), 'unknown')
})
`,
  tryOut: (name) =>
    `npx salt --tgt-type ${name} web1 test.ping  # where module_dirs of the master and the minions names this folder`,
}
