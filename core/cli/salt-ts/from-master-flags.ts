import { boolean, string } from '@oclif/core/flags'
import { UsageError } from '../exit-codes.ts'

/** Options of commands that are about a folder, or about the fleet of the master of this host. */
export const fromMasterFlags = {
  'from-master': boolean({
    description: 'Take the functions that minions have reported to the master of this host.',
  }),
  'config-dir': string({
    char: 'c',
    description: 'Folder of its configuration (default: SALT_CONFIG_DIR, then /etc/salt).',
  }),
}

/** Refuse a configuration where no master is meant. */
export function refuseConfigDir(configDir: string | undefined): void {
  if (configDir !== undefined) throw new UsageError('--config-dir is for --from-master')
}
