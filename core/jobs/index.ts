export { createJidSource, isJid, jidTime } from './jid.ts'
export { JobCache } from './job-cache.ts'
export {
  advance,
  type GivenUp,
  isUnderWay,
  type JobSignal,
  type JobStatus,
  published,
  sentenceOf,
} from './job-states.ts'
export { MinionData } from './minion-data.ts'
export { ReturnSpool } from './return-spool.ts'
