import { TEST_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (name) => `/** How ${name} shows a value, in a sentence. */
import { outputter } from 'salt-ts'

export default outputter({
  render(value, { color }) {
    const text = JSON.stringify(value) ?? 'nothing'
    return color ? \`\\u001b[32m\${text}\\u001b[0m\` : text
  },
})
`,
  test: (name) => `${TEST_HEAD}import plugin from './${name}.ts'

test('renders a value on one line', () => {
  assert.equal(plugin.render({ web1: true }, { color: false }), '{"web1":true}')
})
`,
  tryOut: (name) => `npx salt-call --local -m . --out ${name} test.ping`,
}
