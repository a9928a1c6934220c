/** Files that no loader finds although they are extensions: in the wrong folder, with the wrong name, or with the name of another. */
import { readdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { closest } from '../../../base/closest.ts'
import { type Finding, finding } from '../../../loader/check/rules.ts'
import { SourceText } from '../../../loader/check/source-text.ts'
import type { HiddenFile, SourceFile } from '../../../loader/files/index-files.ts'
import { kinds } from '../../../loader/kinds.ts'

const FOLDERS = [...kinds.values()].flatMap(({ folders }) => folders)

/** Folders of what is installed, compiled or tested. */
const SKIPPED = /^(?:\..*|node_modules|dist|build|out|coverage|tests?|__tests__)$/
/** Files that are neither helpers, declarations nor tests. */
const SOURCE = /^(?![_.])(?!.*\.(?:d|test|spec)\.).*\.(?:[cm]?[jt]s|[jt]sx)$/
/** Endings of sources that no loader reads. */
const UNREAD = /\.(?:cts|[jt]sx)$/
/** Levels of folders that are searched. */
const MAX_DEPTH = 6

const MAKERS = [...kinds.values()].flatMap(({ maker }) => maker ?? [])
/** An export that a loader would offer. */
const EXTENSION = new RegExp(
  String.raw`^export (?:default (?:${MAKERS.join('|')})\b|(?:const|let) \w+ = fn\b)`,
  'm',
)
const IMPORT = /from\s+['"]salt-ts['"]/

/** Return the findings about extensions below a folder that are not among the files that loaders found there. */
export async function unfoundFindings(folder: string, found: readonly SourceFile[]): Promise<Finding[]> {
  const paths = found.map((file) => file.path)
  const real = paths.map((file) => realpath(file).catch(() => file))
  const known = new Set([...paths, ...(await Promise.all(real))]) // what a link leads to is found by the link
  const ofIndexes = new Set(
    [...known].filter((file) => /^index\./.test(path.basename(file))).map((file) => path.dirname(file)),
  )
  const findings: Finding[] = []
  for (const file of await sourcesBelow(folder)) {
    if (known.has(file) || ofIndexes.has(path.dirname(file))) continue
    const source = await SourceText.read(file)
    const [start] = IMPORT.test(source.text) ? source.matches(new RegExp(EXTENSION, 'gm')) : []
    if (!start || source.ignores('unfound-file', source.place(start.index).line)) continue
    findings.push(finding('unfound-file', source.place(start.index), whyUnfound(path.relative(folder, file))))
  }
  return findings
}

/** Return the findings about files that another file of the same name hides; not about what was compiled beside its source. */
export function hiddenFindings(hidden: readonly HiddenFile[], folder: string): Finding[] {
  return hidden
    .filter(({ builtIn, by }) => !builtIn && !by.builtIn)
    .filter((file) => withoutEnding(file.path) !== withoutEnding(file.by.path))
    .map(({ path: file, name, by }) =>
      finding(
        'hidden-file',
        { file, line: 1, column: 1 },
        `This file is not loaded, since ${path.relative(folder, by.path)} has its name, '${name}', too; rename one of them.`,
      ),
    )
}

/** Whether files of a folder may be extensions: folders of helpers begin with `_`, as those of extensions on a file server do. */
const isSearched = (name: string): boolean => !SKIPPED.test(name) && (!name.startsWith('_') || isKind(name))

const withoutEnding = (file: string): string => file.slice(0, -path.extname(file).length)

async function sourcesBelow(folder: string, depth = 0): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found = entries.map(async (entry) => {
    const inside = path.join(folder, entry.name)
    if (entry.isDirectory())
      return depth < MAX_DEPTH && isSearched(entry.name) ? sourcesBelow(inside, depth + 1) : []
    return SOURCE.test(entry.name) ? [inside] : []
  })
  return (await Promise.all(found)).flat().sort()
}

/** Return why no loader finds a file, by its path from the folder that was checked. */
function whyUnfound(file: string): string {
  const folder = path.basename(path.dirname(file))
  const stem = withoutEnding(path.basename(file))
  if (isKind(folder) && stem.includes('.'))
    return `No loader finds this file, since there is a dot in its name; name it '${stem.replaceAll('.', '_')}'.`
  if (isKind(folder) && UNREAD.test(file))
    return `No loader finds this file, since its name ends with ${path.extname(file)}; name it '${stem}.ts'.`
  const above = path.basename(path.dirname(path.dirname(file)))
  if (isKind(above))
    return `No loader finds this file, since it is in a folder below '${above}'; move it there, or name it 'index' if '${folder}' is its name.`
  const meant = closest(folder.replace(/^_/, ''), FOLDERS)
  const advice =
    meant === undefined ? `it belongs into one of ${FOLDERS.join(', ')}.` : `did you mean '${meant}'?`
  return `No loader finds this file, since its folder is not named by a kind of extension; ${advice}`
}

const isKind = (folder: string): boolean => FOLDERS.includes(folder.replace(/^_/, ''))
