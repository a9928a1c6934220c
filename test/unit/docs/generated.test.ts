/** Pages of docs that are written by `npm run docs`. */
import { expect, test } from 'vitest'
import { programs } from '../../../core/cli/programs.ts'
import { SLOW } from '../../harness/slow.ts'
import { commandsPage } from './commands-page.ts'
import { modulesPage } from './modules-page.ts'
import { optionsPage } from './options-page.ts'
import { referencePage } from './reference-page.ts'
import { speedPage } from './speed-page.ts'
import { templatesPage } from './templates-page.ts'

const TITLE = 'docs/%s.md is what is generated; `npm run docs` writes it'

async function check(name: string, page: () => unknown): Promise<void> {
  await expect(page()).toMatchFileSnapshot(`../../../docs/${name}.md`)
}

test.each([
  ['commands', () => commandsPage(programs)],
  ['modules', modulesPage],
  ['options', optionsPage],
  ['speed', speedPage],
  ['templates', templatesPage],
] as const)(TITLE, check)

test.each([['author-reference', referencePage]] as const)(TITLE, SLOW, check)
