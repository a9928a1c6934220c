import type { Explanation } from '../author/context.ts'
import { closest } from '../base/closest.ts'
import type { Catalog } from './catalog.ts'
import type { SourceFile } from './index-files.ts'
import { factsAbout } from './manifest.ts'
import { splitName } from './names.ts'
import { whyNotOffered } from './not-offered.ts'
import { NOT_RUN } from './python-files.ts'

/** What one file has to say to a name. */
interface Finding {
  readonly file: Pick<SourceFile, 'name' | 'path'>
  /**
   * `provides` the function; `serves` the module's name without it, and the text says why, if that can be told; its `virtual` refused; the function is `absent` for
   * something it needs; `disabled`; `failed`; is `renamed`: offered under other names; `hidden` by another file; is written in Python.
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
 * Why a function is not there, in Salt's sentences: `'foo.bar' is not available.`,
 * `'foo' __virtual__ returned False: needs libfoo`, with ` Possible reasons: '…'` for files that failed, are disabled,
 * hidden, or lack something. Files are found by the name users know, not only by file name.
 */
export async function whyMissing(catalog: Catalog, name: string): Promise<string> {
  const [module] = splitName(name)
  const found = await findings(catalog, name)
  const refused = found.filter((one) => one.is === 'virtual')
  const served = found.some(({ is }) => is === 'serves' || is === 'absent')
  const sentence =
    refused.length > 0 && !served ? virtualSentence(module, refused) : `'${name}' is not available.`
  const reasons = [...notAllowed(catalog, module), ...found.flatMap((one) => possibleReason(one, module))]
  return reasons.length > 0 ? `${sentence} Possible reasons: '${reasons.join('; ')}'` : sentence
}

/** Every file that could provide a function or a module, which one does, and why each of the others does not. */
export async function explain(catalog: Catalog, name: string): Promise<Explanation> {
  const [module] = splitName(name)
  const found = await findings(catalog, name)
  const first = found.find(({ is }) => is === 'provides')
  const provider = catalog.allows(module) ? first?.file.path : undefined
  const unknown = found.every(({ is, text }) => is === 'serves' && text === undefined)
  const advice = [...notAllowed(catalog, module), ...(unknown ? await closeNames(catalog, name, found) : [])]
  return {
    name,
    provided_by: provider ?? null,
    files: Object.fromEntries(found.map((one) => [one.file.path, describe(one, first, name)])),
    ...(advice.length > 0 && { advice: advice.join('; ') }),
  }
}

/** In the order in which they are asked. */
async function findings(catalog: Catalog, name: string): Promise<Finding[]> {
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

async function findingOf(catalog: Catalog, file: SourceFile, own: string | undefined): Promise<Finding> {
  if (file.excluded !== undefined) return { file, is: 'disabled', text: file.excluded }
  const { refusal, functions, absent, namespace } = await catalog.load(file)
  const text = refusal ? refusal.reason : own === undefined ? undefined : absent?.get(own)
  const told = text === undefined ? {} : { text }
  if (refusal) return { file, is: refusal.by === 'virtual' ? 'virtual' : 'failed', ...told }
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
  if (is === 'python') return [`${file.path}: ${NOT_RUN}`]
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
    python: `is not looked at: ${NOT_RUN}`,
  }
  return sentences[is]
}

function notAllowed(catalog: Catalog, module: string): string[] {
  return catalog.allows(module) ? [] : [`${module} is not in ${catalog.kind.whitelistKey}`]
}

/** What may have been meant. */
async function closeNames(catalog: Catalog, name: string, found: readonly Finding[]): Promise<string[]> {
  const [module, own] = splitName(name)
  const known: string[] = []
  for (const file of await catalog.files()) {
    const names = await catalog.names(file)
    const functions = own === undefined ? [] : await catalog.functions(file)
    known.push(
      ...names.flatMap((one) => (own === undefined ? [one] : functions.map((each) => `${one}.${each}`))),
    )
  }
  const meant = closest(name, known)
  if (meant !== undefined) return [`There is no ${name}; did you mean ${meant}?`]
  return found.length > 0 ? [] : [`No file is called '${module}' or says that it serves that name`]
}
