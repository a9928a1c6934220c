/** Files of sources in the deb822 format (sources.list(5)): stanzas of fields, each of several types, URIs and suites. */
import { rm } from 'node:fs/promises'
import { replaceFile } from '#internal'
import { filesIn, type Repo, readFileOf, type Source, type SourcePaths, wordsOf } from './sources.ts'

/** A part of a file between blank lines; one with comments alone has no repositories. */
export interface Stanza {
  readonly file: string
  readonly text: string
}

/** Read the stanzas of all files. */
export async function readStanzas(paths: SourcePaths): Promise<Stanza[]> {
  const files = await filesIn(paths.parts, '.sources')
  const stanzas = files.map(async (file) => stanzasIn((await readFileOf(file)) ?? '', file))
  return (await Promise.all(stanzas)).flat()
}

const stanzasIn = (text: string, file: string): Stanza[] =>
  text
    .split(/\n[ \t]*\n/)
    .map((part) => ({ file, text: part.replace(/^\n+|\s+$/g, '') }))
    .filter((stanza) => stanza.text !== '')

/** List the repositories of a stanza: one for each type, URI and suite. */
export function reposOf({ file, text }: Stanza): Repo[] {
  const fields = fieldsIn(text)
  const list = (key: string) => wordsOf(fields.get(key) ?? '')
  const repo = {
    file,
    comps: list('components'),
    disabled: /^(no|false|0|off|without|disable)$/i.test(fields.get('enabled') ?? ''),
    line: text.replace(/^#.*\n?/gm, '').trim(),
    architectures: list('architectures'),
    signedby: fields.get('signed-by') ?? '',
  }
  return list('types').flatMap((type) =>
    list('uris').flatMap((uri) => list('suites').map((dist) => ({ ...repo, type, uri, dist }))),
  )
}

// A field of several lines continues with blanks; a key can be written out in one.
function fieldsIn(text: string): Map<string, string> {
  const plain = text.replace(/^#.*\n?/gm, '')
  const found = plain.matchAll(/^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)/gm)
  return new Map([...found].map(([, key = '', value = '']) => [key.toLowerCase(), value.trim()]))
}

/** Set fields of a stanza, or remove those that are undefined. Comments and other fields stay. */
export function withFields(stanza: Stanza, fields: Readonly<Record<string, string | undefined>>): Stanza {
  const text = Object.entries(fields).reduce((now, [name, value]) => withField(now, name, value), stanza.text)
  return { ...stanza, text }
}

function withField(text: string, name: string, value: string | undefined): string {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
  const line = value === undefined ? [] : [`${name}: ${value}`]
  if (at < 0) return [...lines, ...line].join('\n')
  const later = lines.slice(at + 1)
  const next = later.findIndex((one) => !/^[ \t#]/.test(one))
  const following = next < 0 ? later : later.slice(0, next)
  // Comments after the last line of the value belong to what comes next.
  const length = following.findLastIndex((one) => /^[ \t]/.test(one)) + 1
  return lines.toSpliced(at, 1 + length, ...line).join('\n')
}

/** Take a repository out of a stanza: one with it alone, and others with all the rest. */
export function isolated(stanza: Stanza, { type, uri, dist }: Repo): { own: Stanza; rest: Stanza[] } {
  const fields = fieldsIn(stanza.text)
  const others = (key: string, value: string) => wordsOf(fields.get(key) ?? '').filter((one) => one !== value)
  const of = (change: Record<string, string>) => withFields(stanza, change)
  const parts = [
    ['Types', others('types', type), {}],
    ['URIs', others('uris', uri), { Types: type }],
    ['Suites', others('suites', dist), { Types: type, URIs: uri }],
  ] as const
  return {
    own: of({ Types: type, URIs: uri, Suites: dist }),
    rest: parts
      .filter(([, values]) => values.length > 0)
      .map(([name, values, fixed]) => of({ ...fixed, [name]: values.join(' ') })),
  }
}

/** The fields of options in brackets that have other names. */
const NAMES: Readonly<Record<string, string>> = {
  arch: 'Architectures',
  lang: 'Languages',
  target: 'Targets',
  pdiffs: 'PDiffs',
}

/** Return the fields of a source: those that its line would say. */
export function fieldsOf(source: Source): Record<string, string | undefined> {
  const options = source.options.map((option): [string, string] => {
    const [name = '', value = ''] = option.split(/=(.*)/s)
    const named = name.replaceAll(/(^|-)([a-z])/g, (_, dash, letter) => dash + letter.toUpperCase())
    return [NAMES[name] ?? named, value.replaceAll(',', ' ')]
  })
  return {
    ...Object.fromEntries(options),
    Components: source.comps.join(' ') || undefined,
    Enabled: source.disabled ? 'no' : undefined,
  }
}

/** Return a stanza for a source. */
export function stanzaOf(file: string, source: Source): Stanza {
  const comment = source.comment ? `# ${source.comment.trim()}\n` : ''
  const start = `${comment}Types: ${source.type}\nURIs: ${source.uri}\nSuites: ${source.dist}`
  return withFields({ file, text: start }, fieldsOf(source))
}

/** Write the stanzas of files. A file that defines nothing any more is removed. Returns the files that were removed. */
export async function writeStanzas(files: Iterable<string>, stanzas: readonly Stanza[]): Promise<string[]> {
  const removed: string[] = []
  for (const file of files) {
    const own = stanzas.filter((stanza) => stanza.file === file)
    if (own.some((stanza) => reposOf(stanza).length > 0))
      await replaceFile(file, `${own.map(({ text }) => text).join('\n\n')}\n`)
    else {
      await rm(file, { force: true })
      removed.push(file)
    }
  }
  return removed
}
