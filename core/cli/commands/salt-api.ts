import { loadMasterConfig } from '../../config/index.ts'
import {
  daemonFlags,
  daemonOverrides,
  essentialDaemonFlags,
  runDaemon,
  withFiles,
} from '../daemons/daemon.ts'
import { BaseProgram } from '../program/base-program.ts'

export default class SaltApi extends BaseProgram {
  static override id = 'salt-api'
  static override description = 'Serve the HTTP API (REST) of a master.'
  static override usage = 'salt-api [options]'
  static override examples = ['salt-api -c .salt -l info', 'salt-api -d']
  static readonly essential = essentialDaemonFlags
  static override flags = daemonFlags

  override async run(): Promise<number> {
    const { flags } = await this.parse(SaltApi)
    const load = () => {
      const { config, ...remarks } = loadMasterConfig({
        ...(flags['config-dir'] && { configDir: flags['config-dir'] }),
        overrides: daemonOverrides(flags),
      })
      const { api_logfile: log_file, api_pidfile: pidfile } = config
      return { ...remarks, config: withFiles({ ...config, log_file, pidfile }, flags) }
    }
    const { config, ...remarks } = load()
    return runDaemon('salt-api', config, flags, remarks, {
      main: async (log, started) => {
        const { runApi } = await import('../../api/main.ts')
        return runApi(config, { log, started, load: async () => load() })
      },
    })
  }
}
