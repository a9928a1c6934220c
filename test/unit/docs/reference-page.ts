/** docs/author-reference.md: every public name of `salt-ts`, from its declaration. */
import { fileURLToPath } from 'node:url'
import ts from '@typescript/typescript6'
import { cellText, markdownTable } from '../../harness/markdown.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The sections of the page, and by which file each name gets into one. */
const SECTIONS: readonly [title: string, files: RegExp][] = [
  ['Functions and parameters', /author\/(fn|params|errors|calls)\.ts$/],
  ['Context', /author\/context\.ts$/],
  ["Services of the master's host", /author\/master\.ts$/],
  ['Returners', /author\/returner\.ts$|dialect\/record-json\.ts$/],
  ['Outputters, grains and matchers', /author\/kinds\.ts$/],
  ['Executors and engines', /author\/(executor|engine)\.ts$/],
  ['Eauth backends', /author\/auth\.ts$/],
  ['Files and file server backends', /author\/files\.ts$/],
  ['Helpers', /./],
]

interface PublicName {
  readonly name: string
  /** `function`, `type` and so on, as the page shows it. */
  readonly kind: string
  readonly doc: string
  readonly members: readonly (readonly [name: string, doc: string])[]
  readonly file: string
}

/** Return the names an entry of the package exports, in the order of its declarations. */
function publicNames(entry: string): PublicName[] {
  const file = `${root}/${entry}`
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const program = ts.createProgram([file], { ...options, noEmit: true })
  const checker = program.getTypeChecker()
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!)
  return exported.map((symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const declaration = target.declarations?.[0]
    return {
      name: symbol.name,
      kind: kindOf(target),
      doc: docOf(target, checker),
      members: declaration && ts.isInterfaceDeclaration(declaration) ? membersOf(declaration, checker) : [],
      file: declaration?.getSourceFile().fileName ?? '',
    }
  })
}

function membersOf(declaration: ts.InterfaceDeclaration, checker: ts.TypeChecker): [string, string][] {
  return declaration.members.flatMap((member): [string, string][] => {
    const symbol = member.name && checker.getSymbolAtLocation(member.name)
    const shown = member
      .getText()
      .replace(/^readonly /, '')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\s+/g, ' ')
    return symbol ? [[shown, docOf(symbol, checker)]] : []
  })
}

const docOf = (symbol: ts.Symbol, checker: ts.TypeChecker): string =>
  ts.displayPartsToString(symbol.getDocumentationComment(checker)).replace(/\{@link (\w+)\}/g, '`$1`')

function kindOf({ flags }: ts.Symbol): string {
  if (flags & ts.SymbolFlags.Class) return 'class'
  if (flags & ts.SymbolFlags.Function) return 'function'
  return flags & ts.SymbolFlags.Value ? 'value' : 'type'
}

export function referencePage(): string {
  const names = publicNames('core/author/index.ts')
  const sections = SECTIONS.map(([title, files], at) => {
    const earlier = SECTIONS.slice(0, at).map(([, pattern]) => pattern)
    const own = names.filter(({ file }) => files.test(file) && !earlier.some((pattern) => pattern.test(file)))
    return own.length === 0 ? '' : sectionOf(title, own)
  }).filter((section) => section !== '')
  return `# Reference for authors

Written by \`npm run docs\`: every name that \`salt-ts\` exports, with what its declaration says. The guides show them at work:
[modules](write-a-module.md), [runners](write-a-runner.md), [returners](write-a-returner.md), [engines](write-an-engine.md),
[executors](write-an-executor.md), [eauth backends](eauth-backends.md). A name that is not here is not public.

${sections.join('\n\n')}
`
}

function sectionOf(title: string, names: readonly PublicName[]): string {
  const parts = names.map(({ name, kind, doc, members }) => {
    const rows = members.map(([shown, about]) => [`\`${cellText(shown)}\``, cellText(about)])
    const table = rows.length === 0 ? [] : [markdownTable(['member', 'what it is'], rows)]
    return [`### ${name}`, `*${kind}*${doc === '' ? '' : ` – ${doc.replace(/\n/g, ' ')}`}`, ...table].join(
      '\n\n',
    )
  })
  return [`## ${title}`, ...parts].join('\n\n')
}
