import { expect, test } from 'vitest'
import { pageBlocks } from '../../../harness/page-blocks.ts'
import { SLOW } from '../../../harness/slow.ts'
import { render } from './context.ts'

const [template = '', rendered, error = ''] = pageBlocks('docs/templates.md').map(({ text }) => text)

test('the template of docs/templates.md gives the text of that page', SLOW, async () => {
  expect(await render(template, { role: 'web' })).toBe(rendered)
})

test('without its variable it is refused with the sentence of that page', async () => {
  await expect(render(template)).rejects.toThrow(error.trim())
})
