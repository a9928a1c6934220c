/** Grains of the operating system: kernel, distribution, init. */
import os from 'node:os'
import { grains } from 'salt-ts'
import { lineOf, textOf } from '../_facts/files.ts'
import { gather } from '../_facts/gather.ts'
import { distribution, readReleaseFiles } from '../_os/distribution.ts'
import { initSystem, systemd } from '../_os/init.ts'

const DEBIAN_ARCH: Readonly<Record<string, string>> = {
  x64: 'amd64',
  arm: 'armhf',
  ia32: 'i386',
  ppc64: 'ppc64el',
  mipsel: 'mipsel',
}

export default grains({
  collect: ({ log }) =>
    gather(log, {
      'the kernel': () => ({
        kernel: os.type(),
        kernelrelease: os.release(),
        kernelversion: os.version(),
        nodename: os.hostname(),
        ps: 'ps -efHww',
      }),
      'kernel parameters': async () => ({ kernelparams: kernelParameters(await textOf('/proc/cmdline')) }),
      'the distribution': async () => {
        const found = distribution(await readReleaseFiles())
        return { ...found, osarch: await packageArchitecture(found.os_family) }
      },
      'the init system': async () => ({ init: await initSystem() }),
      systemd: async () => ({ systemd: await systemd() }),
    }),
})

/** Return the kernel's command line as pairs; null for a parameter without a value. */
export function kernelParameters(line: string | undefined): [string, string | null][] | undefined {
  const words = line?.trim().match(/(?:"[^"]*"|[^\s"])+/g)
  return words?.map((word) => {
    const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(word.replaceAll('"', '')) ?? []
    return [name, value ?? null]
  })
}

// The package manager's name of the architecture: dpkg has amd64 where rpm and the kernel have x86_64.
async function packageArchitecture(family: unknown): Promise<string> {
  if (family !== 'Debian') return os.machine()
  const first = (await lineOf('/var/lib/dpkg/arch'))?.split('\n')[0]
  return first ?? DEBIAN_ARCH[process.arch] ?? process.arch
}
