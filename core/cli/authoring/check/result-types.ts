/** The types of results, as the author's TypeScript knows them: can each be sent? */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type ts from '@typescript/typescript6'
import { type Finding, finding } from '../../../loader/check/rules.ts'
import { SourceText } from '../../../loader/check/source-text.ts'
import { packageRoot } from '../../../process/own-package.ts'
import { type CompilerApi, compilerApiOf, compilerOf } from '../compiler.ts'
import { ResultTypes } from './unencodable-type.ts'

/** Exports that the loader reads itself. */
const CONVENTIONS = new Set(['default', 'virtual', 'init', 'load', 'dependsOn'])

/** Return the findings about functions whose results cannot be encoded; a note if no TypeScript can tell their types. */
export async function resultFindings(files: readonly string[], folder: string): Promise<Finding[]> {
  const typed = files.filter((file) => /\.m?ts$/.test(file))
  if (typed.length === 0) return []
  const typescript = await compilerApiOf(folder)
  if (!typescript) return [unchecked(folder)]
  const program = typescript.createProgram(typed, optionsFor(folder, typescript))
  return typed.flatMap((file) => findingsIn(file, program, typescript))
}

function unchecked(folder: string): Finding {
  const manifest = path.join(folder, 'package.json')
  const [why, wanted] =
    compilerOf(folder) === undefined
      ? ['no TypeScript is installed for this folder', 'typescript@6']
      : ['the TypeScript of this folder has no compiler API', '@typescript/typescript6']
  return finding(
    'results-unchecked',
    { file: existsSync(manifest) ? manifest : folder, line: 1, column: 1 },
    `It was not checked whether results can be encoded, since ${why}; run 'npm install --save-dev ${wanted}'.`,
  )
}

/** Return the compiler options of the author's project; `salt-ts` is this copy, as when the files are loaded. */
function optionsFor(folder: string, typescript: CompilerApi): ts.CompilerOptions {
  const { sys } = typescript
  const config = typescript.findConfigFile(folder, sys.fileExists)
  const own =
    config === undefined
      ? undefined
      : typescript.getParsedCommandLineOfConfigFile(
          config,
          {},
          { ...sys, onUnRecoverableConfigFileDiagnostic: () => {} },
        )
  const { ModuleKind, ScriptTarget } = typescript
  return {
    target: ScriptTarget.ES2023,
    module: ModuleKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    ...own?.options,
    allowImportingTsExtensions: true,
    noEmit: true,
    paths: {
      ...own?.options.paths,
      'salt-ts': [path.join(packageRoot, 'dist', 'core', 'author', 'index.d.ts')],
    },
  }
}

function findingsIn(file: string, program: ts.Program, typescript: CompilerApi): Finding[] {
  const source = program.getSourceFile(file)
  const checker = program.getTypeChecker()
  const module = source && checker.getSymbolAtLocation(source)
  if (!source || !module) return []
  const results = new ResultTypes(checker, typescript)
  const text = new SourceText(file, source.text)
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const name = exported.getName()
    if (name.startsWith('_') || CONVENTIONS.has(name)) return []
    const why = results.whyUnencodable(exported)
    const node = exported.declarations?.[0]
    const start = source.getLineAndCharacterOfPosition(node?.getSourceFile() === source ? node.getStart() : 0)
    const place = { file, line: start.line + 1, column: start.character + 1 }
    const message = `The result of '${name}' cannot be encoded: ${why}. Return plain values, such as maps, lists, texts and numbers.`
    const isMeant = why === undefined || text.ignores('unencodable-result', place.line)
    return isMeant ? [] : [finding('unencodable-result', place, message)]
  })
}
