/** What happened when a file was loaded. */
import { messageOf } from '../../base/errors.ts'
import { sentence } from '../../base/sentence.ts'
import { placesIn } from '../files/error-place.ts'
import { importFile } from '../files/import-file.ts'
import type { SourceFile } from '../files/index-files.ts'
import type { LoadedFile } from '../files/load-file.ts'
import { exitFindings } from './exits.ts'
import { type Finding, finding, type Place } from './rules.ts'
import type { SourceText } from './source-text.ts'

/** An extension, and the files that it imports by relative paths. */
export type Sources = readonly [extension: SourceText, ...helpers: SourceText[]]

/**
 * Return the finding about a file that cannot be imported. `files` are those that it imports, among which the place of the error is.
 */
export async function importFinding(
  file: SourceFile,
  files: readonly SourceText[],
): Promise<Finding | undefined> {
  try {
    await importFile(file)
    return undefined
  } catch (error) {
    const reason = messageOf(error).replace(`${file.path}:`, '')
    const [, line, why] = /^(\d+)?:? ?([\s\S]*)$/.exec(reason.trimStart()) ?? []
    const cause = error instanceof Error ? error.cause : undefined
    const place = placesIn(cause).find((one) => files.some(({ path }) => path === one.file))
    const { column = 1, ...known } = place ?? { file: file.path, line: Number(line ?? 1) }
    return finding('import-fails', { ...known, column }, sentence(`The import fails: ${why}`))
  }
}

/** Return the findings about a file that was imported, but is not offered here, or not as a whole; or that was not imported. */
export function offerFindings(files: Sources, { refusal, absent, blocks }: LoadedFile): Finding[] {
  const [source] = files
  const at = (name: string) => source.place(source.exportAt(name))
  const { by, reason = '' } = refusal ?? {}
  const why = reason.replace(`${source.path}: `, '')
  if (blocks) return [endlessFinding(files, why)]
  const failed = /^(virtual|virtualName|virtualAliases|init|dependsOn) failed: /.exec(why)?.[1]
  if (by === 'failure' && failed !== undefined) return [finding('virtual-fails', at(failed), sentence(why))]
  const whole = by === 'virtual' ? [refused(source, refusal?.reason)] : []
  const single = [...(absent ?? [])].map(([name, why]) =>
    finding('virtual-refuses', at(name), sentence(`On this host '${name}' is not offered: it ${why}`)),
  )
  return [...whole, ...single]
}

function refused(source: SourceText, reason = 'its virtual is false, without a reason'): Finding {
  const declared = ['virtual', 'dependsOn'].map((name) => source.exportAt(name)).find((at) => at >= 0)
  const message = sentence(`On this host the file is not offered: ${reason}`)
  return finding('virtual-refuses', source.place(declared ?? 0), message)
}

const ENDLESS = /(?<![\w$.])(?:while\s*\(\s*(?:true|1|!0)\s*\)|for\s*\(\s*;\s*;)/g
const LOOP = /(?<![\w$.])(?:while|for|do)\b/g
const AWAIT = /(?<![\w$.])await\b/g

/** Return the finding about a file that did not finish loading, or ended the process that loaded it. */
function endlessFinding(files: Sources, why: string): Finding {
  if (why.startsWith('its process ')) {
    const [exit] = files.flatMap(exitFindings)
    const message = `The import ends its process: ${why}. A minion would lose all its jobs; leave out what ends it.`
    return finding('import-exits', exit ?? files[0].place(0), message)
  }
  const waits = why.startsWith('did not finish')
  const place =
    (waits ? firstPlace(files, (one) => one.topLevel(AWAIT)) : undefined) ??
    firstPlace(files, (one) => one.topLevel(ENDLESS)) ??
    firstPlace(files, (one) => one.matches(ENDLESS)[0]?.index ?? -1) ??
    firstPlace(files, (one) => one.topLevel(LOOP))
  return finding('import-blocks', place ?? files[0].place(0), `The import ${why} Move it into a function.`)
}

/** Return the place that is found in the first of the files that has one. */
function firstPlace(files: Sources, find: (source: SourceText) => number): Place | undefined {
  for (const source of files) {
    const at = find(source)
    if (at >= 0) return source.place(at)
  }
  return undefined
}
