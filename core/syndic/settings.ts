import { SaltError } from '../base/errors.ts'
import { loadMasterConfig, loadMinionConfig, type MasterConfig, type MinionConfig } from '../config/index.ts'

/** The configuration of a syndic. */
export interface SyndicConfig {
  /** That of the master of this host. */
  readonly master: MasterConfig
  /** That of the minion of this host, whose id and keys the syndic uses above, with the masters above in the place of its own. */
  readonly upward: MinionConfig
}

/**
 * Load the files `master` and `minion` of a directory, as Salt's syndic does: id, `pki_dir` and what concerns connections are those of
 * the minion.
 * @throws SaltError CONFIG_INVALID, also if no master above is named
 */
export function loadSyndicConfig({
  configDir,
  overrides = {},
}: {
  readonly configDir?: string | undefined
  readonly overrides?: Readonly<Record<string, string>>
}): { config: SyndicConfig; warnings: string[]; read: readonly string[] } {
  const place = configDir === undefined ? {} : { configDir }
  const { config: master, ...aboutMaster } = loadMasterConfig({ ...place, overrides })
  const { syndic_master, syndic_master_port: master_port, syndic_finger: master_finger } = master
  if (!syndic_master || syndic_master.length === 0)
    throw new SaltError(
      'CONFIG_INVALID',
      `No master above is set: add "syndic_master: <address>" to ${master.conf_file}, and restart salt-master, too.`,
      { key: 'syndic_master' },
    )
  if (!master.job_cache)
    throw new SaltError(
      'CONFIG_INVALID',
      `salt-syndic needs the job cache of its master, which keeps returns until the master above has them: remove job_cache: false from ${master.conf_file}.`,
      { key: 'job_cache' },
    )
  const { config: upward, ...aboutMinion } = loadMinionConfig({
    ...place,
    overrides: {
      master: syndic_master,
      publish_port: 4506,
      master_finger,
      ...(master_port !== undefined && { master_port }),
    },
  })
  return {
    config: { master: withSyndicFiles(master), upward },
    warnings: [...aboutMaster.warnings, ...aboutMinion.warnings],
    read: [...aboutMaster.read, ...aboutMinion.read],
  }
}

const withSyndicFiles = (config: MasterConfig): MasterConfig => {
  const { syndic_log_file: log_file, syndic_pidfile: pidfile, syndic_user, user } = config
  return { ...config, log_file, pidfile, user: syndic_user ?? user }
}
