import type { Catalog } from './catalog.ts'
import type { SourceFile } from './index-files.ts'

/** What one file has to say to a name that is missing. */
interface Reason {
  readonly by: 'virtual' | 'failure' | 'none'
  readonly text?: string
}

/**
 * Why a function is not there, in Salt's sentences: `'foo.bar' is not available.`,
 * `'foo' __virtual__ returned False: needs libfoo`, with ` Possible reasons: '…'` for files that failed or are disabled.
 * Files are found by the name users know, not only by file name.
 */
export async function whyMissing(catalog: Catalog, name: string): Promise<string> {
  const module = name.split('.', 1)[0] as string
  const reasons = await collectReasons(catalog, module)
  const refusals = reasons.filter(({ by }) => by === 'virtual')
  const provided = reasons.some(({ by }) => by === 'none')
  const failures = reasons.flatMap(({ by, text }) => (by === 'failure' && text ? [text] : []))
  const sentence =
    refusals.length > 0 && !provided ? virtualSentence(module, refusals) : `'${name}' is not available.`
  return failures.length > 0 ? `${sentence} Possible reasons: '${failures.join('; ')}'` : sentence
}

async function collectReasons(catalog: Catalog, module: string): Promise<Reason[]> {
  const reasons: Reason[] = []
  if (!catalog.allows(module))
    reasons.push({ by: 'failure', text: `${module} is not in ${catalog.kind.whitelistKey}` })
  for (const file of await catalog.files()) {
    if (file.excluded !== undefined) {
      if (file.name === module)
        reasons.push({ by: 'failure', text: `${file.name} is disabled: ${file.excluded}` })
      continue
    }
    const names = await catalog.names(file)
    if (names.includes(module)) reasons.push(await reasonOf(catalog, file, module))
    else if (file.name === module)
      reasons.push({ by: 'failure', text: `${module} is offered as ${names.join(', ')}` })
  }
  return reasons
}

async function reasonOf(catalog: Catalog, file: SourceFile, module: string): Promise<Reason> {
  const { refusal } = await catalog.load(file)
  if (!refusal) return { by: 'none' }
  const from = file.name === module || refusal.by === 'failure' ? '' : ` (${file.name})`
  return { by: refusal.by, ...(refusal.reason !== undefined && { text: `${refusal.reason}${from}` }) }
}

function virtualSentence(module: string, refusals: readonly Reason[]): string {
  const texts = refusals.flatMap(({ text }) => text ?? [])
  return `'${module}' __virtual__ returned False${texts.length > 0 ? `: ${texts.join('; ')}` : ''}`
}
