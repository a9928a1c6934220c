import { SaltError } from '../../base/errors.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { jobRequest, targetOf } from '../jobs/job-request.ts'
import { runJobCommand, shortIdList, wantsBatch } from '../jobs/run-job.ts'
import { type SaltFlags, saltFlags } from '../jobs/salt-flags.ts'
import { printNote } from '../output/console.ts'
import { BaseProgram } from '../program/base-program.ts'
import { positionalWords } from '../program/positional-words.ts'
import { openMasterTools } from '../tools.ts'

export default class Salt extends BaseProgram {
  static override id = 'salt'
  static override strict = false
  static override description = 'Run a function on minions and show what they return.'
  static override usage = "salt [options] '<target>' <function> [arguments]"
  static override examples = [
    "salt '*' test.ping",
    "salt -G 'os:Debian' cmd.run 'uname -a' timeout=10",
    'salt -L web01,web02 test.arg,test.ping 1 a=2 , --out json --static',
  ]
  static readonly essential = [
    'list',
    'grain',
    'compound',
    'preview-target',
    'doc',
    'timeout',
    'batch',
    'async',
    'verbose',
    'static',
    'out',
    'config-dir',
  ]
  static override flags = saltFlags

  override async run(): Promise<number> {
    const { flags, raw } = await this.parse(Salt)
    refuseConflicts(flags)
    if (wantsBatch(flags)) (await import('../jobs/batch.ts')).checkBatchFlags(flags)
    const words = await positionalWords(raw, flags['args-stdin'])
    const { config, log, printer } = await openMasterTools('salt', flags)
    if (flags['config-dump']) {
      await printer.print(config, { outputter: 'yaml' })
      return exitCodes.ok
    }
    if (flags['preview-target']) {
      const { previewTarget } = await import('../jobs/preview.ts')
      const { minions, unknown, reason } = await previewTarget(targetOf(words[0] ?? '*', flags), config, log)
      await printer.print(minions)
      if (unknown.length > 0)
        printNote(
          `It is not known whether the target matches ${shortIdList(unknown)}: the master has no grains or pillar of them.`,
        )
      if (reason !== undefined)
        throw new SaltError('NO_MINIONS_MATCHED', `No minions match the target.\n${reason}`)
      return exitCodes.ok
    }
    if (flags.hosts) {
      const { rosterHosts } = await import('../jobs/roster.ts')
      await printer.print(await rosterHosts(targetOf(words[0] ?? '*', flags), config, log))
      return exitCodes.ok
    }
    const deliverWithin = flags.doc ? 0 : config.deliver_within
    const request = { deliverWithin, ...jobRequest(words, flags), check: flags['no-check'] !== true }
    return runJobCommand({ config, log, printer }, request, flags)
  }
}

/** Refuse flags that contradict each other. */
function refuseConflicts(flags: SaltFlags): void {
  if (flags.stream && flags.static)
    throw new UsageError(
      '--stream shows rows as they come, --static shows everything at the end: leave one out.',
    )
  if (flags.plan && flags.subset !== undefined)
    throw new UsageError('--plan sends nothing, and --subset has to ask minions first: leave one out.')
  if (flags.group && flags['full-return'])
    throw new UsageError(
      '--group joins equal answers, but full returns always differ, since each contains its minion id: leave one out.',
    )
}
