/** docs/templates.md: between its marks, the names of the filters, tests and functions that templates have. */
import { readFileSync } from 'node:fs'
import { builtInFiltersAndTests, globals } from '../../../modules/_jinja/index.ts'

const BEGIN = '<!-- names: written by npm run docs -->\n'
const END = '<!-- end of names -->\n'
const LINE_WIDTH = 130

/** What Jinja has by itself. Salt adds the others. */
const OF_JINJA = {
  filters:
    `abs attr batch capitalize center count d default dictsort e escape filesizeformat first float forceescape format
    groupby indent int items join last length list lower map max min pprint random reject rejectattr replace reverse round
    safe select selectattr slice sort string striptags sum title tojson trim truncate unique upper urlencode urlize wordcount
    wordwrap xmlattr`.split(/\s+/),
  tests:
    `boolean callable defined divisibleby eq equalto == escaped even false filter float ge >= gt greaterthan > in integer
    iterable le <= lower lt lessthan < mapping ne != none number odd sameas sequence string test true undefined
    upper`.split(/\s+/),
  functions: ['cycler', 'dict', 'joiner', 'lipsum', 'namespace', 'range'],
}

/** Return the page with the names of the present tables in the place of those it has. */
export function templatesPage(): string {
  const page = readFileSync(new URL('../../../docs/templates.md', import.meta.url), 'utf8')
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error('docs/templates.md has no marks between which names stand.')
  const names = {
    filters: builtInFiltersAndTests.filters,
    tests: builtInFiltersAndTests.tests,
    functions: globals,
  }
  const lists = (['filters', 'tests', 'functions'] as const).flatMap((kind) => {
    const sorted = [...names[kind].keys()].sort()
    const isOfJinja = (name: string) => OF_JINJA[kind].includes(name)
    const title = kind[0]?.toUpperCase() + kind.slice(1)
    return [
      listOf(`${title} of Jinja:`, sorted.filter(isOfJinja)),
      listOf(
        `${title} that Salt adds:`,
        sorted.filter((name) => !isOfJinja(name)),
      ),
    ]
  })
  return `${page.slice(0, begin)}${BEGIN}\n${lists.join('\n')}\n\n${page.slice(end)}`
}

function listOf(title: string, names: readonly string[]): string {
  const lines = [`- ${title}`]
  for (const [at, name] of names.entries()) {
    const word = `\`${name}\`${at < names.length - 1 ? ',' : ''}`
    const line = `${lines.at(-1)} ${word}`
    if (line.length <= LINE_WIDTH) lines[lines.length - 1] = line
    else lines.push(`  ${word}`)
  }
  return lines.join('\n')
}
