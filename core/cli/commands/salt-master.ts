import { loadMasterConfig, type MasterConfig } from '../../config/index.ts'
import {
  daemonFlags,
  daemonOverrides,
  essentialDaemonFlags,
  runDaemon,
  withFiles,
} from '../daemons/daemon.ts'
import { BaseProgram } from '../program/base-program.ts'

export default class SaltMaster extends BaseProgram {
  static override id = 'salt-master'
  static override description = 'Publish jobs to minions and receive their returns.'
  static override usage = 'salt-master [options]'
  static override examples = ['salt-master -c .salt -l info', 'salt-master -d']
  static readonly essential = essentialDaemonFlags
  static override flags = daemonFlags

  override async run(): Promise<number> {
    const { flags } = await this.parse(SaltMaster)
    const load = () => {
      const { config, ...remarks } = loadMasterConfig({
        ...(flags['config-dir'] && { configDir: flags['config-dir'] }),
        overrides: daemonOverrides(flags),
      })
      return { ...remarks, config: withFiles(config, flags) }
    }
    const { config, ...remarks } = load()
    return runDaemon('salt-master', config, flags, remarks, {
      asRoot: async (account) => {
        const { prepareMaster } = await import('../../master/supervision/prepare.ts')
        await prepareMaster(config, account)
      },
      main: async (log, started) => {
        const { runMaster } = await import('../../master/supervision/main.ts')
        if (config.api !== false) await checkedApi({ config })
        return runMaster(config, { log, started, load: async () => checkedApi(load()) })
      },
    })
  }
}

/** Check the settings of the API, which the master itself does not read. */
async function checkedApi<T extends { readonly config: MasterConfig }>(loaded: T): Promise<T> {
  const { readSettings } = await import('../../api/settings.ts')
  readSettings(loaded.config)
  return loaded
}
