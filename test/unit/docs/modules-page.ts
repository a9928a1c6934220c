/** docs/modules.md: every built-in module with its functions, from the comments in `modules`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { docsOf } from '../../../core/loader/describe/docs.ts'
import { cellText, markdownTable } from '../../harness/markdown.ts'

const folder = fileURLToPath(new URL('../../../modules', import.meta.url))

export function modulesPage(): string {
  const files = readdirSync(folder).filter((file) => /^[a-z].*\.ts$/.test(file))
  return `# Modules

Written by \`npm run docs\` from the modules themselves. \`salt '*' sys.doc MODULE.FUNCTION\` shows the whole documentation of a function with its
parameters and examples, also of your own. What is not there is in [Limits](limits.md#modules).

${files
  .map(sectionOf)
  .sort((one, other) => (one < other ? -1 : 1))
  .join('\n\n')}
`
}

function sectionOf(file: string): string {
  const source = readFileSync(join(folder, file), 'utf8')
  const name = file.slice(0, -3)
  const [, virtual = name] = /export const virtualName = '(\w+)'/.exec(source) ?? []
  const { module = '', functions } = docsOf(source)
  const rows = [...functions]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([fun, text]) => [`\`${virtual}.${fun}\``, cellText(summaryOf(text))])
  const heading = virtual === name ? `## ${name}` : `## ${virtual} (${name})`
  return [heading, cellText(module), markdownTable(['function', 'what it does'], rows)].join('\n\n')
}

/** Return the first sentence. */
const summaryOf = (text: string): string => /^[\s\S]*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text
