import { Command } from '@oclif/core/command'
import { loadMinionConfig } from '../../config/index.ts'
import { daemonFlags, daemonOverrides, essentialDaemonFlags, runDaemon, withFiles } from '../daemon.ts'

export default class SaltMinion extends Command {
  static override id = 'salt-minion'
  static override description = 'Run the jobs of a master on this host.'
  static override usage = 'salt-minion [options]'
  static override examples = ['salt-minion -c .salt -l info', 'salt-minion -d']
  static readonly essential = essentialDaemonFlags
  static override flags = daemonFlags

  override async run(): Promise<number> {
    const { flags } = await this.parse(SaltMinion)
    const load = () => {
      const { config, warnings } = loadMinionConfig({
        ...(flags['config-dir'] && { configDir: flags['config-dir'] }),
        overrides: daemonOverrides(flags),
      })
      return { config: withFiles(config, flags), warnings }
    }
    const { config, warnings } = load()
    return runDaemon('salt-minion', config, flags, warnings, {
      main: async (log, started) => {
        const { runMinion } = await import('../../minion/main.ts')
        return runMinion(config, { log, started, load: async () => load() })
      },
    })
  }
}
