import { mkdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { didYouMean } from '../../base/closest.ts'
import { SaltError } from '../../base/errors.ts'
import { listFolder } from '../../loader/files/index-files.ts'
import { type Kind, type KindName, kinds } from '../../loader/kinds.ts'
import { codeRoot } from '../../process/own-package.ts'
import { UsageError } from '../exit-codes.ts'
import { projectOf } from './project.ts'
import { linkSaltTs } from './salt-ts-link.ts'
import { kindOf, loadTemplate, templateWords } from './templates/index.ts'

export interface Creation {
  /** The kind as typed: `module`, `grains`. */
  readonly kind: string
  readonly name: string
  readonly directory: string
}

/**
 * Write an extension, its test, and the files that TypeScript and npm need. Returns the text to print. Nothing is
 * overwritten.
 */
export async function create({ kind: word, name, directory }: Creation): Promise<string> {
  const kind = kinds.get(kindNamed(word)) as Kind
  const template = await loadTemplate(kind.name)
  refuseName(name)
  const folder = folderOf(kind, directory)
  const written = [
    { path: path.join(folder, `${name}.ts`), text: template.source(name) },
    { path: path.join(folder, `${name}.test.ts`), text: template.test(name) },
  ]
  await refuseExisting(written.map((file) => file.path))
  const around = await projectOf(directory, kind.name)
  for (const file of [...written, ...around.files]) await write(file.path, file.text)
  const shown = [...written, ...around.files].map((file) => `created ${path.relative(directory, file.path)}`)
  const link = await linkSaltTs(directory)
  const notes = [...shadowNote(kind, name), ...around.notes]
  return [
    ...shown,
    ...(link ? [link] : []),
    ...notes.map((note) => `Note: ${note}`),
    '',
    ...nextSteps(template.tryOut(name), around.steps, directory),
  ].join('\n')
}

function kindNamed(word: string): KindName {
  const kind = kindOf(word)
  if (kind) return kind
  throw new UsageError(
    `There is no kind '${word}'. Kinds are: ${templateWords.join(', ')}.${didYouMean(word, templateWords)}`,
  )
}

/** Refuse a name that is not made of lower-case letters, digits and underscores. */
function refuseName(name: string): void {
  if (/^[a-z][a-z0-9_]*$/.test(name)) return
  throw new UsageError(
    `'${name}' is not a valid name: use lower-case letters, digits and _, and begin with a letter, as in disk_usage.`,
  )
}

/** Return the folder of the kind in the directory, or the directory itself if it is such a folder. */
function folderOf(kind: Kind, directory: string): string {
  const own = path.basename(directory).replace(/^_/, '')
  return kind.folders.includes(own) ? directory : path.join(directory, kind.folders[0])
}

async function refuseExisting(files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (await stat(file).catch(() => undefined))
      throw new SaltError(
        'INVOCATION',
        `${file} exists already; nothing was written. Use another name, or remove the file first.`,
      )
  }
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text, { flag: 'wx' })
}

/** Return a note if the extension has the name of a built-in one. */
function shadowNote(kind: Kind, name: string): string[] {
  const builtIn = listFolder(path.join(codeRoot, kind.builtIn))
  if (!builtIn.some((file) => file.name === name)) return []
  return [`'${name}' is also one of the built-in ${kind.name} of salt-ts; yours is used instead.`]
}

function nextSteps(tryOut: string, toCheck: readonly string[], directory: string): string[] {
  const from = path.relative('.', directory)
  const steps = [...(from === '' ? [] : [`cd ${from}`]), tryOut, 'npx salt-ts test', ...toCheck]
  return ['Next:', ...steps.map((step) => `  ${step}`)]
}
