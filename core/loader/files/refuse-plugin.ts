import { typeInWords } from '../kind-of.ts'
import type { Kind } from '../kinds.ts'
import type { Namespace } from './import-file.ts'

/** Return why a file is not a plugin of a kind, with a correction; undefined if it has all required members. */
export function refusePlugin(namespace: Namespace, kind: Kind): string | undefined {
  const wrong = whatIsWrong(namespace, kind)
  const members = (kind.members ?? []).map((member) => `${member}: …`).join(', ')
  return wrong && `${wrong}; write 'export default ${kind.maker}({ ${members} })'`
}

function whatIsWrong(namespace: Namespace, { members = [] }: Kind): string | undefined {
  const { default: plugin } = namespace
  if (plugin === undefined) {
    const [named] = Object.keys(namespace)
    return `has no default export${named === undefined ? '' : `, but exports '${named}' by name`}`
  }
  if (typeof plugin !== 'object' || plugin === null) return `its default export is ${typeInWords(plugin)}`
  const missing = members.filter((member) => typeof Reflect.get(plugin, member) !== 'function')
  return missing.length === 0
    ? undefined
    : `its default export has no ${missing.map((member) => `${member}()`).join(', ')}`
}
