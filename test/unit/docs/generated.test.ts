/** Pages of docs that are written by `npm run docs`. */
import { expect, test } from 'vitest'
import { programs } from '../../../core/cli/programs.ts'
import { commandsPage } from './commands-page.ts'
import { modulesPage } from './modules-page.ts'
import { optionsPage } from './options-page.ts'
import { referencePage } from './reference-page.ts'
import { speedPage } from './speed-page.ts'

test.each([
  ['commands', () => commandsPage(programs)],
  ['modules', modulesPage],
  ['options', optionsPage],
  ['author-reference', referencePage],
  ['speed', speedPage],
] as const)('docs/%s.md is what is generated; `npm run docs` writes it', async (name, page) => {
  await expect(page()).toMatchFileSnapshot(`../../../docs/${name}.md`)
})
