/** Flags of `salt`. */
import { boolean, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { authFlags, diffFlag, docFlag, duration, executorFlags, functionFlags, number } from '../flags.ts'

const target = (char: 'E' | 'L' | 'G' | 'P' | 'N' | 'C' | 'I' | 'J' | 'S' | 'R', description: string) =>
  boolean({ char, description, helpGroup: 'TARGET' })

/** Flags for batches. */
const batchFlags = {
  batch: string({
    char: 'b',
    aliases: ['batch-size'],
    description: 'Run on this many minions at a time, or on a share of them: 10%.',
    helpGroup: 'BATCH',
  }),
  'batch-wait': number({
    description: 'Seconds to wait after a minion returns before the next one starts.',
    helpGroup: 'BATCH',
  }),
  failhard: boolean({
    description: 'Stop the batch after the first minion that fails or does not return.',
    helpGroup: 'BATCH',
  }),
  'batch-max-fail': string({
    description: 'Stop the batch after more than this many failures, or this share: 10%.',
    helpGroup: 'BATCH',
  }),
  'batch-safe-limit': number({
    description: 'Run as a batch if the target matches at least this many minions.',
    helpGroup: 'BATCH',
  }),
  'batch-safe-size': string({ description: 'Size of such a batch (default 8).', helpGroup: 'BATCH' }),
}

/** Flags for the type of the target. */
export const targetFlags = {
  pcre: target('E', 'The target is a regular expression for ids.'),
  list: target('L', 'The target is a list of ids, separated by commas.'),
  grain: target('G', 'The target matches a grain: key:glob.'),
  'grain-pcre': target('P', 'The target matches a grain: key:regular expression.'),
  nodegroup: target('N', 'The target is a nodegroup of the configuration.'),
  compound: target('C', "The target is a compound expression: 'G@os:Debian and not web*'."),
  pillar: target('I', 'The target matches a pillar value: key:glob.'),
  'pillar-pcre': target('J', 'The target matches a pillar value: key:regular expression.'),
  ipcidr: target('S', 'The target is an IP address or a network.'),
  range: target('R', 'The target is a range expression for the range server (range_server).'),
  'tgt-type': string({
    description: 'The target has this type: data, or one of your own matchers.',
    helpGroup: 'TARGET',
  }),
  delimiter: string({
    description: 'Separator in the keys of -G, -P, -I and -J (default :).',
    helpGroup: 'TARGET',
  }),
}

export const saltFlags = {
  ...targetFlags,
  hosts: boolean({
    char: 'H',
    description: 'List the hosts of the roster that the target matches; run nothing.',
    helpGroup: 'TARGET',
  }),
  subset: number({
    description: 'Run on this many of them, chosen at random among those that have the function.',
    helpGroup: 'TARGET',
  }),
  'preview-target': boolean({
    description: 'List the minions that the target matches; run nothing.',
    helpGroup: 'TARGET',
  }),
  'config-dump': boolean({ description: 'Show the effective configuration; run nothing.' }),
  plan: boolean({
    description:
      'Show what would happen: which minions, with which arguments, and which would refuse. Send nothing.',
  }),
  'no-check': boolean({ description: 'Send the job even if no minion would accept it.' }),
  timeout: number({
    char: 't',
    description: 'Seconds to wait before minions are asked whether they still run the job (config: timeout).',
  }),
  'gather-job-timeout': number({ description: 'Seconds to wait for the answers to that.' }),
  'deliver-within': duration({
    description:
      'Minions that are away get the job, once, if they connect within this time: 45m, 2h, 1d (config: deliver_within).',
  }),
  async: boolean({ description: 'Print the job id; do not wait for returns.' }),
  stream: boolean({ description: 'Show rows as functions yield them.' }),
  static: boolean({ char: 's', description: 'Print everything at the end, as one document.' }),
  verbose: boolean({ char: 'v', description: 'Print the job id and why minions failed or did not return.' }),
  'show-jid': boolean({ description: 'Print the job id.' }),
  'show-timeout': boolean({
    description: 'List each minion that did not return by itself, even if many have the same reason.',
  }),
  'hide-timeout': boolean({
    description: 'Do not list minions that did not return. The exit code still counts them.',
  }),
  summary: boolean({ description: 'Print a summary at the end.' }),
  progress: boolean({ char: 'p', description: 'Show a progress bar instead of results.' }),
  group: boolean({ description: 'Print equal answers once, at the end, with the ids of their minions.' }),
  'full-return': boolean({
    description: 'Print the complete return of each minion, with the state of the job.',
  }),
  doc: docFlag('Show the documentation of the function.'),
  ...batchFlags,
  metadata: string({ description: 'Metadata to send with the job and its returns, as a YAML map.' }),
  return: string({ description: 'Returners that also get the returns, separated by commas.' }),
  return_config: string({ description: 'Name of the alternative configuration of the returners.' }),
  return_kwargs: string({ description: 'Options of the returners, as a YAML map.' }),
  ...executorFlags,
  'args-separator': string({
    description: 'Separator between the arguments of several functions (default ,).',
    helpGroup: 'ARGUMENTS',
  }),
  'retcode-passthrough': boolean({
    description: 'Exit with the highest return code of a function instead of 1.',
  }),
  ...diffFlag,
  ...authFlags,
  ...functionFlags,
}

export type SaltFlags = InferredFlags<typeof saltFlags>
