import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

import subject, { pools, raids } from '../../../../../plugins/grains/_core/storage.ts'
import { Host } from '../../../../../plugins/grains/_facts/host.ts'
import { removeFolder, temporaryFolder } from '../../../../harness/folder.ts'
import { collectFrom } from '../context.ts'

let root: string
beforeEach(async () => {
  root = await temporaryFolder('salt-ts-storage-')
})
afterEach(() => removeFolder(root))

const program = async (name: string, body: string) => {
  await mkdir(join(root, 'usr/sbin'), { recursive: true })
  await writeFile(join(root, 'usr/sbin', name), `#!/bin/sh\n${body}\n`)
  await chmod(join(root, 'usr/sbin', name), 0o755)
}

test('a system without storage devices has empty grains', async () => {
  expect(await collectFrom(subject, {}, new Host(root))).toEqual({
    grains: { disks: [], ssds: [], zfs_support: false, zfs_feature_flags: false },
    lines: [],
  })
})

test('a volume group without volumes is listed (a script stands in for lvm)', async () => {
  await program('lvm', 'if [ $1 = vgs ]; then echo "  new"; echo "  vg0"; else echo "  vg0 root"; fi')
  expect((await collectFrom(subject, {}, new Host(root))).grains.lvm).toEqual({ new: [], vg0: ['root'] })
})

test('the failure of a program is logged, and the other grains are collected (a script stands in for lvm)', async () => {
  await program('lvm', 'echo "no permission" >&2; exit 5')
  const { grains, lines } = await collectFrom(subject, {}, new Host(root))
  expect(lines).toEqual([expect.stringMatching(/^The grains about LVM are missing: .*lvm (vgs|lvs)/)])
  expect(grains).toMatchObject({ zfs_support: false, disks: [] })
  expect(grains).not.toHaveProperty('lvm')
})

test('disable_grains excludes them by the names of the files in Salt, and then no program runs', async () => {
  await program('lvm', 'exit 1')
  const opts = { disable_grains: ['lvm', 'zfs', 'disks', 'mdadm'] }
  expect(await collectFrom(subject, opts, new Host(root))).toEqual({ grains: {}, lines: [] })
})

test('names in storage networks are collected only on request', async () => {
  const wanted = { iscsi_grains: true, fibre_channel_grains: true, nvme_grains: true }
  const found = await collectFrom(subject, wanted, new Host(root))
  expect(found.grains).toMatchObject({ iscsi_iqn: [], fc_wwn: [], nvme_nqn: [] })
})

test('RAID arrays are sorted, and a kernel without RAID has no such grain', () => {
  expect(
    raids('Personalities : [raid1]\nmd1 : active\n  1 blocks\nmd0 : active\nunused devices: <none>\n'),
  ).toEqual(['md0', 'md1'])
  expect(raids('Personalities : \nunused devices: <none>\n')).toEqual([])
  expect(raids(undefined)).toBeUndefined()
})

test('sizes of pools are in bytes', () => {
  expect(pools('tank\t1.81T\nodd\t-\n')).toEqual({ tank: 1990116046274, odd: '-' })
  expect(pools('')).toBeUndefined()
})
