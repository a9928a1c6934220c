import { mkdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { closest } from '../../base/closest.ts'
import { SaltError } from '../../base/errors.ts'
import { listFolder } from '../../loader/index-files.ts'
import { type Kind, kinds } from '../../loader/kinds.ts'
import { codeRoot } from '../../loader/own-package.ts'
import { UsageError } from '../exit-codes.ts'
import { projectFiles } from './project.ts'
import { linkSaltTs } from './salt-ts-link.ts'
import { findTemplate, type Template, templateWords } from './templates.ts'

export interface Creation {
  /** As it was typed: `module`, `grains`. */
  readonly kind: string
  readonly name: string
  readonly directory: string
}

/** Write an extension, its test, and what TypeScript and npm need around them. Gives what to tell; nothing is overwritten. */
export async function create({ kind: word, name, directory }: Creation): Promise<string> {
  const template = templateOf(word)
  const kind = kinds.get(template.kind) as Kind
  refuseName(name)
  const folder = folderOf(kind, directory)
  const written = [
    { path: path.join(folder, `${name}.ts`), text: template.source(name) },
    { path: path.join(folder, `${name}.test.ts`), text: template.test(name) },
  ]
  await refuseExisting(written.map((file) => file.path))
  const around = await projectFiles(directory)
  for (const file of [...written, ...around.files]) await write(file.path, file.text)
  const shown = [...written, ...around.files].map((file) => `created ${path.relative(directory, file.path)}`)
  const link = await linkSaltTs(directory)
  const notes = [...(await hides(kind, name)), ...around.notes]
  return [
    ...shown,
    ...(link ? [link] : []),
    ...notes.map((note) => `Note: ${note}`),
    '',
    ...next(template, name, directory),
  ].join('\n')
}

function templateOf(word: string): Template {
  const template = findTemplate(word)
  if (template) return template
  const meant = closest(word, templateWords)
  const why =
    kinds.has(word) || kinds.has(`${word}s`)
      ? `There is no template for ${word} yet`
      : `There is no kind '${word}'`
  const hint = meant ? ` Did you mean '${meant}'?` : ''
  throw new UsageError(`${why}; there is one for ${templateWords.join(', ')}.${hint}`)
}

/** Users type it, and it is a file: small letters, digits and underscores do everywhere. */
function refuseName(name: string): void {
  if (/^[a-z][a-z0-9_]*$/.test(name)) return
  throw new UsageError(
    `'${name}' is no name for it: use small letters, digits and _, with a letter first, as in disk_usage.`,
  )
}

/** The folder of the kind in the directory; the directory itself if it is called so. */
function folderOf(kind: Kind, directory: string): string {
  const own = path.basename(directory).replace(/^_/, '')
  return kind.folders.includes(own) ? directory : path.join(directory, kind.folders[0])
}

async function refuseExisting(files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (await stat(file).catch(() => undefined))
      throw new SaltError(
        'INVOCATION',
        `${file} is there already; nothing was written. Take another name, or remove it first.`,
      )
  }
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text, { flag: 'wx' })
}

/** A remark if salt-ts has one of that name itself. */
async function hides(kind: Kind, name: string): Promise<string[]> {
  const builtIn = await listFolder(path.join(codeRoot, kind.builtIn))
  if (!builtIn.some((file) => file.name === name)) return []
  return [`salt-ts has '${name}' among its own ${kind.name}; this one goes before it.`]
}

function next(template: Template, name: string, directory: string): string[] {
  const from = path.relative('.', directory)
  const steps = [
    ...(from === '' ? [] : [`cd ${from}`]),
    ...(template.tryOut ? [template.tryOut(name)] : []),
    'npx salt-ts test',
    'npm install && npx tsc  # typescript and the types of Node, to check the types',
  ]
  return ['Next:', ...steps.map((step) => `  ${step}`)]
}
