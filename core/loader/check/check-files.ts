import type { ExtensionFiles } from '../describe/extension-files.ts'
import { importFile, type Namespace } from '../files/import-file.ts'
import type { SourceFile } from '../files/index-files.ts'
import type { LoadedFile } from '../files/load-file.ts'
import { listFunctions } from '../functions.ts'
import type { Kind } from '../kinds.ts'
import { callFindings, dependencyFindings, type KnownFunctions, knownFunctions } from './calls.ts'
import { exampleFindings } from './examples.ts'
import { exitFindings } from './exits.ts'
import { exportFindings, hidingFindings } from './exports.ts'
import { localFiles } from './imports.ts'
import { importFinding, offerFindings, type Sources } from './loading.ts'
import { optionalPackages, packageFindings } from './packages.ts'
import { optionFindings, parameterFindings } from './parameters.ts'
import type { Finding } from './rules.ts'
import type { SourceText } from './source-text.ts'

/**
 * Check extensions, with the files that they import by relative paths. They are loaded, so this must run where a file may block or
 * end the process.
 */
export async function checkFiles(
  catalog: ExtensionFiles,
  isChecked: (file: SourceFile) => boolean,
): Promise<Finding[]> {
  const files = (await catalog.files()).filter((file) => file.excluded === undefined && isChecked(file))
  const known = files.length > 0 && callsItsKind(catalog.kind) ? await knownFunctions(catalog) : undefined
  const found: Finding[] = []
  for (const file of files) found.push(...(await checkFile(catalog, file, known)))
  return found
}

/** Whether functions of a kind call others of the same kind; plugins call modules, if anything. */
const callsItsKind = ({ shape, name }: Kind): boolean => shape === 'functions' && name !== 'utils'

async function checkFile(
  catalog: ExtensionFiles,
  file: SourceFile,
  known: KnownFunctions | undefined,
): Promise<Finding[]> {
  const loaded = await catalog.load(file)
  const local = await localFiles(file.path)
  const files = local.files as Sources // the file itself is the first
  const [source] = files
  const broken = loaded.blocks ? undefined : await importFinding(file, files)
  const namespace = loaded.blocks || broken ? {} : await importFile(file)
  const optional = optionalPackages(namespace.dependsOn)
  const found = [
    ...local.findings,
    ...(file.builtIn ? [] : files.flatMap((one) => packageFindings(one, optional))),
    ...files.flatMap(exitFindings),
    ...(known ? files.flatMap((one) => callFindings(one, known)) : []),
    ...(loaded.blocks || broken ? [] : contentFindings(source, namespace, loaded, catalog.kind, known)),
    ...(await hidingFindings(catalog, file, source)),
    ...offerFindings(files, loaded),
  ]
  return withoutConsequences([...(broken ? [broken] : []), ...found]).filter(
    ({ rule, file: path, line }) => !files.find((one) => one.path === path)?.ignores(rule, line),
  )
}

/** Return the findings about what a file exports. */
function contentFindings(
  source: SourceText,
  namespace: Namespace,
  { names }: LoadedFile,
  kind: Kind,
  known: KnownFunctions | undefined,
): Finding[] {
  const ofExports = exportFindings(source, namespace, kind)
  if (kind.shape === 'plugin') return [...ofExports, ...optionFindings(source, namespace.default)]
  if (ofExports.some(({ severity }) => severity === 'error')) return ofExports
  const functions = listFunctions(namespace)
  return [
    ...ofExports,
    ...parameterFindings(source, functions),
    ...(known ? dependencyFindings(source, namespace, known) : []),
    ...exampleFindings(source, { kind: kind.name, names, functions }, known),
  ]
}

/** Leave out findings that others explain. */
function withoutConsequences(found: readonly Finding[]): Finding[] {
  const has = (isIt: (one: Finding) => boolean) => found.some(isIt)
  const isMissing = has(({ rule }) => rule === 'missing-import' || rule === 'missing-package')
  const isCircle = has(({ rule, message }) => rule === 'import-fails' && message.includes('circular import'))
  const isExit = ({ file, line }: Finding) =>
    has((one) => one.rule === 'import-exits' && one.file === file && one.line === line)
  return found.filter((one) => {
    if (one.rule === 'import-fails') return !isMissing
    if (one.rule === 'circular-import') return !isCircle
    return one.rule !== 'process-exit' || !isExit(one)
  })
}
