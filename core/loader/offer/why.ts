import type { Explanation } from '../../author/context.ts'
import { closest } from '../../base/closest.ts'
import type { ExtensionFiles } from '../describe/extension-files.ts'
import type { SourceFile } from '../files/index-files.ts'
import { factsAbout } from '../files/manifest.ts'
import { PYTHON_NOT_SUPPORTED } from '../files/python-files.ts'
import { splitName } from '../names.ts'
import { whyNotOffered } from './not-offered.ts'

/** The relation of one file to a name. */
interface Finding {
  readonly file: Pick<SourceFile, 'name' | 'path'>
  /**
   * - `provides`: it has the function.
   * - `serves`: it serves the module's name without the function; `text` has the reason if known.
   * - `virtual`: its `virtual` refused.
   * - `absent`: a dependency of the function is missing.
   * - `renamed`: it is offered under other names.
   * - `hidden`: another file hides it.
   * - `python`: it is written in Python.
   */
  readonly is:
    | 'provides'
    | 'serves'
    | 'virtual'
    | 'absent'
    | 'disabled'
    | 'failed'
    | 'renamed'
    | 'hidden'
    | 'python'
  /** The reason, the other names, or the path of the other file. */
  readonly text?: string
}

/**
 * Return why a function is not available, in Salt's words: `'foo.bar' is not available.`,
 * `'foo' __virtual__ returned False: needs libfoo`, with ` Possible reasons: '…'` for files that failed, are disabled or
 * hidden, or lack a dependency. Files are found by their names for users, not only by file name.
 */
export async function whyMissing(catalog: ExtensionFiles, name: string): Promise<string> {
  const [module] = splitName(name)
  const found = await findings(catalog, name)
  const refused = found.filter((one) => one.is === 'virtual')
  const served = found.some(({ is }) => is === 'serves' || is === 'absent')
  const sentence =
    refused.length > 0 && !served ? virtualSentence(module, refused) : `'${name}' is not available.`
  const reasons = [
    ...notAllowed(catalog, module),
    ...found.flatMap((one) => possibleReason(one, module)),
    ...(served ? [] : await catalog.unreadable()),
  ]
  return reasons.length > 0 ? `${sentence} Possible reasons: '${reasons.join('; ')}'` : sentence
}

/** Explain which file provides a function or a module, and why each other candidate does not. */
export async function explain(catalog: ExtensionFiles, name: string): Promise<Explanation> {
  const [module] = splitName(name)
  const found = await findings(catalog, name)
  const first = found.find(({ is }) => is === 'provides')
  const provider = catalog.allows(module) ? first?.file.path : undefined
  const unknown = found.every(({ is, text }) => is === 'serves' && text === undefined)
  const advice = [
    ...notAllowed(catalog, module),
    ...(unknown ? await closeNames(catalog, name, found) : []),
    ...(unknown ? await catalog.unreadable() : []),
  ]
  return {
    name,
    provided_by: provider ?? null,
    files: Object.fromEntries(found.map((one) => [one.file.path, describe(one, first, name)])),
    ...(advice.length > 0 && { advice: advice.join('; ') }),
  }
}

/** Return the findings in the order of precedence. */
async function findings(catalog: ExtensionFiles, name: string): Promise<Finding[]> {
  const [module, own] = splitName(name)
  const found: Finding[] = []
  for await (const file of catalog.candidates(module)) found.push(await findingOf(catalog, file, own))
  for (const file of (await catalog.files()).filter((one) => one.name === module)) {
    const names = await catalog.names(file)
    if (!names.includes(module)) found.push({ file, is: 'renamed', text: names.join(', ') })
  }
  for (const file of await catalog.hidden()) {
    const { names = [file.name], functions } = await factsAbout(catalog.kind, file)
    const hasIt = own === undefined || (functions?.includes(own) ?? true)
    if (names.includes(module) && hasIt) found.push({ file, is: 'hidden', text: file.by.path })
  }
  for (const path of await catalog.python(module)) found.push({ file: { name: module, path }, is: 'python' })
  return found
}

async function findingOf(
  catalog: ExtensionFiles,
  file: SourceFile,
  own: string | undefined,
): Promise<Finding> {
  if (file.excluded !== undefined) return { file, is: 'disabled', text: file.excluded }
  const { refusal, functions, absent, namespace } = await catalog.load(file)
  const text = refusal ? refusal.reason : own === undefined ? undefined : absent?.get(own)
  const optionalText = text === undefined ? {} : { text }
  if (refusal) return { file, is: refusal.by === 'virtual' ? 'virtual' : 'failed', ...optionalText }
  if (text !== undefined) return { file, is: 'absent', text }
  if (catalog.kind.shape === 'plugin') return { file, is: 'provides' }
  if (own === undefined ? functions.size > 0 : functions.has(own)) return { file, is: 'provides' }
  const hint = whyNotOffered(namespace, own, functions)
  return { file, is: 'serves', ...(hint !== undefined && { text: hint }) }
}

function virtualSentence(module: string, refused: readonly Finding[]): string {
  const texts = refused.flatMap(({ file, text }) =>
    text === undefined ? [] : file.name === module ? text : `${text} (${file.name})`,
  )
  return `'${module}' __virtual__ returned False${texts.length > 0 ? `: ${texts.join('; ')}` : ''}`
}

function possibleReason({ file, is, text = '' }: Finding, module: string): string[] {
  if (is === 'serves') return text === '' ? [] : [`${file.path}: ${text}`]
  if (is === 'failed' || is === 'absent') return text === '' ? [] : [text]
  if (is === 'disabled') return [`${file.name} is disabled: ${text}`]
  if (is === 'renamed') return [`${module} is offered as ${text}`]
  if (is === 'hidden') return [`${file.path} is hidden by ${text}`]
  if (is === 'python') return [`${file.path}: ${PYTHON_NOT_SUPPORTED}`]
  return []
}

function describe({ file, is, text }: Finding, provider: Finding | undefined, name: string): string {
  const sentences: Record<Finding['is'], string> = {
    provides: file === provider?.file ? 'provides it' : `has it, too, but ${provider?.file.path} comes first`,
    serves: `serves this module, but offers ${name.includes('.') ? `no ${name}` : 'no function'}${text === undefined ? '' : `: ${text}`}`,
    virtual: `is not offered: ${text ?? 'its virtual is false, without a reason'}`,
    absent: `has it, but it ${text}`,
    disabled: `is disabled: ${text}`,
    failed: `cannot be loaded: ${text}`,
    renamed: `is offered as ${text}`,
    hidden: `is hidden by ${text}, which has the same name and comes first`,
    python: `is ignored: ${PYTHON_NOT_SUPPORTED}`,
  }
  return sentences[is]
}

function notAllowed(catalog: ExtensionFiles, module: string): string[] {
  return catalog.allows(module) ? [] : [`${module} is not in ${catalog.kind.whitelistKey}`]
}

/** Return advice with the nearest name. */
async function closeNames(
  catalog: ExtensionFiles,
  name: string,
  found: readonly Finding[],
): Promise<string[]> {
  const [module, own] = splitName(name)
  const known: string[] = []
  for (const file of await catalog.files()) {
    const names = await catalog.names(file)
    const functions = own === undefined ? [] : await catalog.functions(file)
    known.push(
      ...names.flatMap((one) => (own === undefined ? [one] : functions.map((each) => `${one}.${each}`))),
    )
  }
  const nearest = closest(name, known)
  if (nearest !== undefined) return [`There is no ${name}; did you mean ${nearest}?`]
  return found.length > 0 ? [] : [`No file has the name '${module}' or declares it`]
}
