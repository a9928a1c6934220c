/** What a file exports: functions by their names, or the plugin of its kind. */
import { messageOf } from '../../base/errors.ts'
import { sentence } from '../../base/sentence.ts'
import type { ExtensionFiles } from '../describe/extension-files.ts'
import type { Namespace } from '../files/import-file.ts'
import type { SourceFile } from '../files/index-files.ts'
import { factsAbout } from '../files/manifest.ts'
import { overrideSentence } from '../files/overrides.ts'
import { refusePlugin } from '../files/refuse-plugin.ts'
import { listFunctions } from '../functions.ts'
import type { Kind } from '../kinds.ts'
import { whyNotOffered } from '../offer/not-offered.ts'
import { type Finding, finding } from './rules.ts'
import type { SourceText } from './source-text.ts'

export function exportFindings(source: SourceText, namespace: Namespace, kind: Kind): Finding[] {
  if (kind.shape === 'plugin') return pluginFindings(source, namespace, kind)
  return kind.name === 'utils' ? [] : functionFindings(source, namespace)
}

function pluginFindings(source: SourceText, namespace: Namespace, kind: Kind): Finding[] {
  const wrong = refusePlugin(namespace, kind)
  if (wrong === undefined) return []
  const at = source.exportAt('default')
  return [
    finding(
      'plugin-export',
      source.place(at >= 0 ? at : source.exportAt(firstName(namespace))),
      aboutFile(wrong),
    ),
  ]
}

const ITS_DEFAULT = 'its default export'

/** Say in a sentence what is wrong with a file, or with its default export. */
const aboutFile = (wrong: string): string =>
  wrong.startsWith(ITS_DEFAULT)
    ? `The default export of this file${wrong.slice(ITS_DEFAULT.length)}.`
    : `This file ${wrong}.`

const firstName = (namespace: Namespace): string => Object.keys(namespace)[0] ?? ''

function functionFindings(source: SourceText, namespace: Namespace): Finding[] {
  const at = (name: string) => source.place(source.exportAt(name))
  try {
    const functions = listFunctions(namespace)
    const { default: plain } = namespace
    const isRequired = source.path.endsWith('.cjs') && functions.size > 0 // Node makes a default export of it, too
    const ofDefault = isRequired ? undefined : whyNotOffered({ default: plain }, undefined, new Map())
    const misnamed = [...functions.keys()]
      .filter((name) => /[^_]_$/.test(name))
      .map((name) => finding('trailing-underscore', at(name), underscored(name)))
    if (ofDefault !== undefined)
      return [finding('default-export', at('default'), asSentence(ofDefault)), ...misnamed]
    if (functions.size > 0) return misnamed
    const why = whyNotOffered(namespace, undefined, functions)
    const message = why === undefined ? NOTHING : `This file offers no function: ${why}.`
    return [finding('nothing-offered', at(firstName(namespace)), message)]
  } catch (error) {
    return [finding('nothing-offered', at('load'), asSentence(messageOf(error)))] // `load` is malformed
  }
}

const NOTHING =
  "This file exports no function; write 'export const NAME = fn(…)', or begin its name with _ if it is a helper."

const underscored = (name: string): string => {
  const meant = name.slice(0, -1)
  return `Users have to type the _ of '${name}'; write 'export { ${name} as ${meant} }', which may be a reserved word.`
}

const asSentence = (text: string): string => sentence(`${text.charAt(0).toUpperCase()}${text.slice(1)}`)

/** Find names of a file, also those that it declares itself, that built-in files have. */
export async function hidingFindings(
  catalog: ExtensionFiles,
  file: SourceFile,
  source: SourceText,
): Promise<Finding[]> {
  const hidden = (await catalog.hidden()).filter(({ by, builtIn }) => by === file && builtIn && !by.builtIn)
  const whole = await Promise.all(hidden.map((one) => overrideSentence(catalog.kind, one)))
  const virtual = file.builtIn || catalog.kind.shape === 'plugin' ? [] : await sharedNames(catalog, file)
  return [
    ...whole.map((told) =>
      finding('hides-built-in', source.place(0), `${told} Use another name if that is not intended.`),
    ),
    ...virtual.map((name) =>
      finding('hides-built-in', source.place(source.exportAt('virtualName')), sharing(name)),
    ),
  ]
}

const sharing = (name: string): string =>
  `salt-ts has a built-in module '${name}', too, and this file is used in its place; use another virtualName if that is not intended.`

async function sharedNames(catalog: ExtensionFiles, file: SourceFile): Promise<string[]> {
  const declared = (await catalog.names(file)).filter((name) => name !== file.name)
  const builtIn = (await catalog.files()).filter((other) => other.builtIn)
  const served = await Promise.all(
    builtIn.map(async (other) => (await factsAbout(catalog.kind, other)).names ?? [other.name]),
  )
  const known = new Set(served.flat())
  return declared.filter((name) => known.has(name))
}
