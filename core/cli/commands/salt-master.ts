import { Command } from '@oclif/core/command'
import { loadMasterConfig } from '../../config/index.ts'
import { daemonFlags, daemonOverrides, essentialDaemonFlags, runDaemon, withFiles } from '../daemon.ts'

export default class SaltMaster extends Command {
  static override id = 'salt-master'
  static override description = 'Publish jobs to minions and receive what they return.'
  static override usage = 'salt-master [options]'
  static override examples = ['salt-master -c .salt -l info', 'salt-master -d']
  static readonly essential = essentialDaemonFlags
  static override flags = daemonFlags

  override async run(): Promise<number> {
    const { flags } = await this.parse(SaltMaster)
    const loaded = loadMasterConfig({
      ...(flags['config-dir'] && { configDir: flags['config-dir'] }),
      overrides: daemonOverrides(flags),
    })
    const config = withFiles(loaded.config, flags)
    return runDaemon('salt-master', config, flags, loaded.warnings, async (log, started) => {
      const { runMaster } = await import('../../master/main.ts')
      return runMaster(config, { log, started })
    })
  }
}
