/** Grains of the operating system: kernel, distribution, init. */
import os from 'node:os'
import type { Source } from '../_facts/gather.ts'
import type { Host } from '../_facts/host.ts'
import { distribution, readReleaseFiles } from '../_os/distribution.ts'
import { initSystem, systemd } from '../_os/init.ts'

const DEBIAN_ARCH: Readonly<Record<string, string>> = {
  x64: 'amd64',
  arm: 'armhf',
  ia32: 'i386',
  ppc64: 'ppc64el',
  mipsel: 'mipsel',
}

const source: Source = (host) => ({
  'the kernel': () => ({
    kernel: os.type(),
    kernelrelease: os.release(),
    kernelversion: os.version(),
    nodename: os.hostname(),
    ps: 'ps -efHww',
  }),
  'kernel parameters': () => ({ kernelparams: kernelParameters(host.text('/proc/cmdline')) }),
  'the distribution': () => {
    const found = distribution(readReleaseFiles(host))
    return { ...found, osarch: packageArchitecture(host, found.os_family) }
  },
  'the init system': () => ({ init: initSystem(host) }),
  systemd: async () => ({ systemd: await systemd(host) }),
  SELinux: async () => ({ selinux: await selinux(host) }),
  'transactional updates': async () => ({
    transactional: (await host.program('transactional-update')) !== undefined,
  }),
})
export default source

/** Return the kernel's command line as pairs; null for a parameter without a value. */
export function kernelParameters(line: string | undefined): [string, string | null][] | undefined {
  const words = line?.trim().match(/(?:"[^"]*"|[^\s"])+/g)
  return words?.map((word) => {
    const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(word.replaceAll('"', '')) ?? []
    return [name, value ?? null]
  })
}

// The package manager's name of the architecture: dpkg has amd64 where rpm and the kernel have x86_64.
function packageArchitecture(host: Host, family: unknown): string {
  if (family !== 'Debian') return os.machine()
  const first = host.line('/var/lib/dpkg/arch')?.split('\n')[0]
  return first ?? DEBIAN_ARCH[process.arch] ?? process.arch
}

// The kernel knows what selinuxenabled and getenforce print. Without these programs, Salt has no such grain.
async function selinux(host: Host): Promise<Record<string, unknown> | undefined> {
  if ((await host.program('selinuxenabled')) === undefined) return undefined
  const state = host.line('/sys/fs/selinux/enforce')
  const enabled = state !== undefined
  if ((await host.program('getenforce')) === undefined) return { enabled }
  return { enabled, enforced: enabled ? (state === '1' ? 'Enforcing' : 'Permissive') : 'Disabled' }
}
