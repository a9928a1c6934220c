/** Flags of `salt`. */
import { boolean, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { batchFlags } from './batch-flags.ts'
import { authFlags, diffFlag, docFlag, executorFlags, functionFlags, number } from './flags.ts'

const target = (char: 'E' | 'L' | 'G' | 'P' | 'N' | 'C' | 'I' | 'J' | 'S' | 'R', description: string) =>
  boolean({ char, description, helpGroup: 'TARGET' })

export const saltFlags = {
  pcre: target('E', 'The target is a regular expression on ids.'),
  list: target('L', 'The target is a list of ids, with commas.'),
  grain: target('G', 'The target is a grain: key:glob.'),
  'grain-pcre': target('P', 'The target is a grain: key:regular expression.'),
  nodegroup: target('N', 'The target is a nodegroup of the configuration.'),
  compound: target('C', "The target is compound: 'G@os:Debian and not web*'."),
  pillar: target('I', 'The target is a pillar value: key:glob.'),
  'pillar-pcre': target('J', 'The target is a pillar value: key:regular expression.'),
  ipcidr: target('S', 'The target is an address or a network.'),
  range: target('R', 'The target is a range, which a range server knows (range_server).'),
  'tgt-type': string({
    description: 'The target is of this type: data, or one of your own matchers.',
    helpGroup: 'TARGET',
  }),
  hosts: boolean({
    char: 'H',
    description: 'List the hosts of the roster that the target means; run nothing.',
    helpGroup: 'TARGET',
  }),
  delimiter: string({ description: 'Parts the keys of -G, -P, -I, -J (default :).', helpGroup: 'TARGET' }),
  subset: number({
    description: 'Only this many of them, at random, that have the function.',
    helpGroup: 'TARGET',
  }),
  'preview-target': boolean({
    description: 'Show whom the target means; run nothing.',
    helpGroup: 'TARGET',
  }),
  'config-dump': boolean({ description: 'Show the configuration as it is in effect; run nothing.' }),
  plan: boolean({
    description: 'Show what would happen: on whom, with which arguments, who would refuse it. Send nothing.',
  }),
  'no-check': boolean({ description: 'Send it even if no minion would run it.' }),
  timeout: number({ char: 't', description: 'Seconds before silent minions are asked (config: timeout).' }),
  'gather-job-timeout': number({ description: 'Seconds they have to answer that.' }),
  async: boolean({ description: 'Print the job id, do not wait.' }),
  stream: boolean({ description: 'Show rows as functions yield them.' }),
  static: boolean({ char: 's', description: 'Print everything at the end, as one document.' }),
  verbose: boolean({ char: 'v', description: 'Say what is being done.' }),
  'show-jid': boolean({ description: 'Say the job id.' }),
  'show-timeout': boolean({
    description: 'Name each minion that did not return, also where many have the same reason.',
  }),
  'hide-timeout': boolean({ description: 'Do not name them; the exit code tells still.' }),
  summary: boolean({ description: 'End with a summary.' }),
  progress: boolean({ char: 'p', description: 'Show a bar instead of results.' }),
  group: boolean({ description: 'Print equal answers once, at the end, with the ids of the minions.' }),
  'full-return': boolean({
    description: 'Of each minion the whole return, with the state of the job there.',
  }),
  doc: docFlag('Show the documentation of the function.'),
  ...batchFlags,
  metadata: string({ description: 'Map that goes with the job and its returns.' }),
  return: string({ description: 'Returners that also get the returns.' }),
  return_config: string({ description: 'Their alternative configuration.' }),
  return_kwargs: string({ description: 'Their options, a map.' }),
  ...executorFlags,
  'args-separator': string({
    description: 'Parts the arguments of several functions (default ,).',
    helpGroup: 'ARGUMENTS',
  }),
  'retcode-passthrough': boolean({
    description: 'Exit with the highest code of a function, not 1.',
  }),
  ...diffFlag,
  ...authFlags,
  ...functionFlags,
}

export type SaltFlags = InferredFlags<typeof saltFlags>
