/** Grains of installed software. */
import { join } from 'node:path'
import { grains } from 'salt-ts'
import { exists } from '../_facts/files.ts'
import { gather } from '../_facts/gather.ts'

export default grains({
  collect: ({ log }) =>
    gather(log, {
      'transactional updates': async () => ({ transactional: await isOnPath('transactional-update') }),
      ZFS: async () => {
        const supported = (await isOnPath('zpool')) && (await hasZfs())
        return { zfs_support: supported, zfs_feature_flags: supported && (await hasFeatureFlags()) }
      },
    }),
})

async function isOnPath(program: string): Promise<boolean> {
  const folders = process.env.PATH?.split(':').filter(Boolean) ?? []
  return (await Promise.all(folders.map((folder) => exists(join(folder, program))))).includes(true)
}

const hasZfs = async (): Promise<boolean> => (await exists('/sys/module/zfs')) || isOnPath('zfs-fuse')

/** Whether the manual page of the feature flags is installed; Salt checks the same. */
async function hasFeatureFlags(): Promise<boolean> {
  const manuals = ['5', '7'].map((section) => `/usr/share/man/man${section}/zpool-features.${section}`)
  return (await Promise.all(manuals.flatMap((path) => [exists(path), exists(`${path}.gz`)]))).includes(true)
}
