import type { Context } from 'salt-ts'

const X86_32 = ['i386', 'i486', 'i586', 'i686']
const ARM_32 = ['armv5tel', 'armv5tejl', 'armv6l', 'armv6hl', 'armv7l', 'armv7hl', 'armv7hnl']
const ARCHES = new Set([
  ...['x86_64', 'athlon', 'amd64', 'ia32e', 'ia64', 'geode', 'aarch64'],
  ...X86_32,
  ...ARM_32,
  ...['ppc', 'ppc64', 'ppc64le', 'ppc64iseries', 'ppc64pseries', 's390', 's390x'],
  ...['alpha', 'alphaev4', 'alphaev45', 'alphaev5', 'alphaev56'],
  ...['alphapca56', 'alphaev6', 'alphaev67', 'alphaev68', 'alphaev7', 'sh3', 'sh4', 'sh4a'],
])

/** Whether a word is an architecture of rpm, other than `noarch`. */
const isArch = (word: string): boolean => ARCHES.has(word)

/** Whether a package of this architecture needs no architecture in its name on a system of the other one. */
function isNative(arch: string, osarch: unknown): boolean {
  const both = (family: readonly string[]) => family.includes(arch) && family.includes(String(osarch))
  return arch === osarch || arch === 'noarch' || both(X86_32) || both(ARM_32)
}

/** Return the name of a package; one of another architecture than that of this system has its architecture in it. */
export const nameWithArch = (name: string, arch: string, { osarch }: Context['grains']): string =>
  isNative(arch, osarch) ? name : `${name}.${arch}`

/** Split a name into the name and the architecture at its end, if there is one. */
export function splitArch(text: string): { name: string; arch: string | null } {
  const at = text.lastIndexOf('.')
  const arch = text.slice(at + 1)
  return at >= 0 && (isArch(arch) || arch === 'noarch')
    ? { name: text.slice(0, at), arch }
    : { name: text, arch: null }
}

/** Remove the architecture from a name if a package of it is native here. */
export function withoutNativeArch(text: string, { osarch }: Context['grains']): string {
  const { name, arch } = splitArch(text)
  return arch !== null && isNative(arch, osarch) ? name : text
}
