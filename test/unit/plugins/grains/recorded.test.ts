import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import hardware from '../../../../plugins/grains/_core/hardware.ts'
import network from '../../../../plugins/grains/_core/network.ts'
import os from '../../../../plugins/grains/_core/os.ts'
import runtime from '../../../../plugins/grains/_core/runtime.ts'
import storage from '../../../../plugins/grains/_core/storage.ts'
import virtual from '../../../../plugins/grains/_core/virtual.ts'
import { Host } from '../../../../plugins/grains/_facts/host.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { collectFrom } from './context.ts'

/**
 * `files` are as the distributions publish them (os-release) or as kernels and firmware write them; null removes one of the common
 * files. `programs` are the bodies of shell scripts that stand in for programs. `grains` are what Python's Salt 3006 said where these
 * files were mounted over those of a host.
 */
interface Recorded {
  readonly common: Files
  readonly systems: Readonly<
    Record<string, { files: Files; programs: Readonly<Record<string, string>>; grains: Grains }>
  >
}
type Files = Readonly<Record<string, string | { readonly link: string } | null>>
type Grains = Readonly<Record<string, unknown>>

const recorded = JSON.parse(
  await readFile(join(import.meta.dirname, 'recorded-systems.json'), 'utf8'),
) as Recorded

/** Where salt-ts says more, or what is right; the other grains of these systems are equal. */
const DIFFERENT: Readonly<Record<string, Grains>> = {
  // Salt finds the type of the instance only with dmidecode.
  'Ubuntu 22.04 on Amazon EC2': { virtual_subtype: 'Amazon EC2 (m5.large)' },
  'Amazon Linux 2023': { virtual_subtype: 'Amazon EC2 (m7i.large)' },
  // Salt finds Parallels only with dmidecode.
  'Debian 12 with ZFS on Parallels': { virtual: 'Parallels' },
  // Salt says `virtual` for a container that it does not know.
  'Alpine 3.19 in a pod of Kubernetes': { virtual: 'container' },
  // Salt stops at the exclamation mark.
  'Pop!_OS 22.04': { lsb_distrib_description: 'Pop!_OS 22.04 LTS' },
}

let root: string
beforeEach(async () => {
  root = await temporaryFolder('salt-ts-system-')
})
afterEach(() => removeFolder(root))

async function build(files: Files, programs: Readonly<Record<string, string>>): Promise<Host> {
  const scripts = Object.entries(programs).map(([name, body]) => [`/usr/bin/${name}`, `#!/bin/sh\n${body}\n`])
  for (const [path, content] of [...Object.entries(files), ...(scripts as [string, string][])]) {
    if (content === null) continue
    await mkdir(join(root, dirname(path)), { recursive: true })
    if (typeof content === 'string') await writeFile(join(root, path), content)
    else await symlink(content.link, join(root, path))
    if (path.startsWith('/usr/bin/')) await chmod(join(root, path), 0o755)
  }
  return new Host(root)
}

test.each(Object.keys(recorded.systems))('recorded: %s has the grains that Salt gives it', async (name) => {
  const { files, programs, grains } = recorded.systems[name]!
  const host = await build({ ...recorded.common, ...files }, programs)
  const opts = { iscsi_grains: true, fibre_channel_grains: true, nvme_grains: true }
  const found: Grains = {}
  for (const source of [os, hardware, virtual, network, storage, runtime]) {
    const { grains: some, lines } = await collectFrom(source, opts, host)
    expect(lines).toEqual([])
    Object.assign(found, some)
  }
  const expected = { ...grains, ...DIFFERENT[name] }
  const { num_gpus: _, gpus: __, ...compared } = expected as Record<string, unknown>
  expect(found).toMatchObject(compared)
  // Nor is there a grain about the system that Salt does not have.
  const about =
    /^(os(?!arch)|lsb|virtual|lvm|mdadm|zpool|selinux|uuid|product|serial|machine_id|bios|board|manuf)/
  expect(Object.keys(found).filter((key) => about.test(key) && !(key in expected))).toEqual([])
})
