import { loadMinionConfig } from '../../config/index.ts'
import {
  daemonFlags,
  daemonOverrides,
  essentialDaemonFlags,
  runDaemon,
  withFiles,
} from '../daemons/daemon.ts'
import { BaseProgram } from '../program/base-program.ts'

export default class SaltMinion extends BaseProgram {
  static override id = 'salt-minion'
  static override description = 'Run the jobs that a master publishes for this host.'
  static override usage = 'salt-minion [options]'
  static override examples = ['salt-minion -c .salt -l info', 'salt-minion -d']
  static readonly essential = essentialDaemonFlags
  static override flags = daemonFlags

  override async run(): Promise<number> {
    const { flags } = await this.parse(SaltMinion)
    const load = () => {
      const { config, ...remarks } = loadMinionConfig({
        ...(flags['config-dir'] && { configDir: flags['config-dir'] }),
        overrides: daemonOverrides(flags),
      })
      return { ...remarks, config: withFiles(config, flags) }
    }
    const { config, ...remarks } = load()
    return runDaemon('salt-minion', config, flags, remarks, {
      main: async (log, started) => {
        const { runMinion } = await import('../../minion/main.ts')
        return runMinion(config, { log, started, load: async () => load() })
      },
    })
  }
}
