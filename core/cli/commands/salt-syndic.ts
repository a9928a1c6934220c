import {
  daemonFlags,
  daemonOverrides,
  essentialDaemonFlags,
  runDaemon,
  withFiles,
} from '../daemons/daemon.ts'
import { BaseProgram } from '../program/base-program.ts'

export default class SaltSyndic extends BaseProgram {
  static override id = 'salt-syndic'
  static override description = 'Let the minions of the master on this host run jobs of a master above it.'
  static override usage = 'salt-syndic [options]'
  static override examples = ['salt-syndic -c .salt -l info', 'salt-syndic -d']
  static readonly essential = essentialDaemonFlags
  static override flags = daemonFlags

  override async run(): Promise<number> {
    const { flags } = await this.parse(SaltSyndic)
    const { loadSyndicConfig } = await import('../../syndic/settings.ts')
    const { config, ...remarks } = loadSyndicConfig({
      configDir: flags['config-dir'],
      overrides: daemonOverrides(flags),
    })
    const master = withFiles(config.master, flags)
    return runDaemon('salt-syndic', master, flags, remarks, {
      main: async (log, started) => {
        const { runSyndic } = await import('../../syndic/main.ts')
        return runSyndic({ ...config, master }, { log, started })
      },
    })
  }
}
