import { join } from 'node:path'
import ts from 'typescript'

/** Files of packages that were read and parsed: projects of one test file share them. */
const parsed = new Map<string, ts.SourceFile | undefined>()

/** Check the files of a folder as `tsc` does in it, without those they import from elsewhere, and return what `tsc` would print. */
export function typeCheck(folder: string): string {
  const fail = (problem: ts.Diagnostic) => {
    throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'))
  }
  const config = ts.getParsedCommandLineOfConfigFile(join(folder, 'tsconfig.json'), undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: fail,
  })
  if (!config) throw new Error(`${folder} has no tsconfig.json`)
  const host = { ...ts.createCompilerHost(config.options), getCurrentDirectory: () => folder }
  const { getSourceFile } = host
  host.getSourceFile = (name, options, ...rest) => {
    if (name.startsWith(folder)) return getSourceFile(name, options, ...rest)
    const key = `${name} ${JSON.stringify(options)}`
    if (!parsed.has(key)) parsed.set(key, getSourceFile(name, options, ...rest))
    return parsed.get(key)
  }
  const program = ts.createProgram({ rootNames: config.fileNames, options: config.options, host })
  const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder))
  const problems = ts.sortAndDeduplicateDiagnostics([
    ...config.errors,
    ...own.flatMap((file) => ts.getPreEmitDiagnostics(program, file)),
  ])
  return ts.formatDiagnostics(problems, { ...host, getCanonicalFileName: (name) => name })
}
