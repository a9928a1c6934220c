import { boolean, string } from '@oclif/core/flags'
import { number } from './flags.ts'

/** Flags of `salt` for jobs in waves. */
export const batchFlags = {
  batch: string({
    char: 'b',
    aliases: ['batch-size'],
    description: 'Run on so many minions at a time, or on a share of them: 10%.',
    helpGroup: 'BATCH',
  }),
  'batch-wait': number({
    description: 'Seconds a minion that is done keeps its place.',
    helpGroup: 'BATCH',
  }),
  failhard: boolean({
    description: 'Start no more when one has failed or not returned.',
    helpGroup: 'BATCH',
  }),
  'batch-max-fail': string({
    description: 'Start no more when more than so many, or such a share, have.',
    helpGroup: 'BATCH',
  }),
  'batch-safe-limit': number({
    description: 'Run in batches if the target means so many minions.',
    helpGroup: 'BATCH',
  }),
  'batch-safe-size': string({ description: 'So many at a time then (default 8).', helpGroup: 'BATCH' }),
}
