/** Turns the words and flags of `salt` into the job to publish. */
import { untyped } from '../../author/calls.ts'
import type { TargetExpression } from '../../author/context.ts'
import type { PublishRequest } from '../../client/index.ts'
import { typedWords } from '../../loader/calls/typed.ts'
import { parseInput, splitWords } from '../../loader/calls/words.ts'
import { checkTarget } from '../../targets/index.ts'
import { MAX_DELIVER_SECONDS } from '../../wire/publish-request.ts'
import { UsageError } from '../exit-codes.ts'
import { yamlList, yamlMap } from '../program/yaml-options.ts'

/** Flags for the target type, of which one may be given. */
const TARGET_TYPES = {
  pcre: 'pcre',
  list: 'list',
  grain: 'grain',
  'grain-pcre': 'grain_pcre',
  nodegroup: 'nodegroup',
  compound: 'compound',
  pillar: 'pillar',
  'pillar-pcre': 'pillar_pcre',
  ipcidr: 'ipcidr',
  range: 'range',
} as const

type TargetFlags = { readonly [name in keyof typeof TARGET_TYPES]?: boolean }

export interface JobFlags extends TargetFlags {
  readonly 'tgt-type'?: string | undefined
  readonly delimiter?: string | undefined
  readonly timeout?: number | undefined
  readonly 'gather-job-timeout'?: number | undefined
  readonly 'deliver-within'?: number | undefined
  readonly doc?: boolean
  readonly return?: string | undefined
  readonly return_config?: string | undefined
  readonly return_kwargs?: string | undefined
  readonly metadata?: string | undefined
  readonly 'module-executors'?: string | undefined
  readonly 'executor-opts'?: string | undefined
  readonly 'args-separator'?: string
  readonly 'no-parse'?: string | undefined
}

/** Return the job for `words`: target, function, arguments. With `-d`, the target defaults to all minions. */
export function jobRequest(words: readonly string[], flags: JobFlags): PublishRequest {
  const [target = flags.doc ? '*' : undefined, functions, ...rest] = words
  if (target === undefined) throw incomplete('Name a target and a function.')
  if (functions === undefined && !flags.doc)
    throw incomplete(`Name the function that '${target}' should run.`)
  return {
    ...targetOf(target, flags),
    ...(flags.doc
      ? { fun: untyped('sys.doc'), arg: functions === undefined ? [] : [functions] }
      : callOf(functions as string, rest, flags)),
    ...extrasOf(flags),
  }
}

const incomplete = (message: string) => new UsageError(message, { incomplete: true })

export function targetOf(
  target: string,
  flags: JobFlags,
): { tgt: TargetExpression; tgtType: string; delimiter?: string } {
  const given = (Object.keys(TARGET_TYPES) as (keyof typeof TARGET_TYPES)[]).filter((name) => flags[name])
  if (given.length > 1) throw new UsageError(`--${given[0]} and --${given[1]} cannot be given together.`)
  const own = flags['tgt-type']
  if (given[0] !== undefined && own !== undefined)
    throw new UsageError(`--${given[0]} and --tgt-type cannot be given together.`)
  const tgtType = given[0] === undefined ? (own ?? 'glob') : TARGET_TYPES[given[0]]
  const tgt = tgtType === 'list' ? target.split(/[\s,]+/).filter((id) => id !== '') : target
  const { delimiter } = flags
  checkTarget({ tgt, tgt_type: tgtType, ...(delimiter !== undefined && { delimiter }) })
  return { tgt, tgtType, ...(delimiter !== undefined && { delimiter }) }
}

type JobCall = Pick<PublishRequest, 'fun' | 'arg' | 'words'>

/**
 * Return functions and arguments. Several functions are separated by commas, and their arguments by commas or by
 * `--args-separator`.
 */
function callOf(functions: string, words: string[], flags: JobFlags): JobCall {
  const noParse = flags['no-parse']?.split(',') ?? []
  if (!functions.includes(',')) {
    const typed = typedWords(words, noParse)
    return { fun: untyped(functions), arg: parseInput(words, noParse), ...(typed && { words: typed }) }
  }
  const fun = functions
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const lists = splitWords(words, flags['args-separator'] || ',', fun.length)
  if (lists.length > fun.length) {
    throw new UsageError(
      `There are arguments for ${lists.length} functions, but only ${fun.length} were named.`,
    )
  }
  const typed = lists.map((list) => typedWords(list, noParse) ?? null)
  const arg = lists.map((list) => parseInput(list, noParse))
  return { fun: fun.map(untyped), arg, ...(typed.some(Boolean) && { words: typed }) }
}

function deliverWithin({ 'deliver-within': seconds }: JobFlags): Partial<PublishRequest> {
  if (seconds === undefined) return {}
  if (seconds !== 0 && !(seconds >= 1 && seconds <= MAX_DELIVER_SECONDS))
    throw new UsageError('--deliver-within needs a duration from 1s to 30d, or 0.')
  return { deliverWithin: seconds }
}

function extrasOf(flags: JobFlags): Partial<PublishRequest> {
  const timeout = flags.timeout !== undefined && flags.timeout > 0 ? { timeout: flags.timeout } : {}
  const gather = flags['gather-job-timeout']
  return {
    ...timeout,
    ...(gather !== undefined && { gatherJobTimeout: gather }),
    ...deliverWithin(flags),
    ...(flags.return !== undefined && { ret: flags.return }),
    ...(flags.return_config !== undefined && { retConfig: flags.return_config }),
    ...present({
      retKwargs: yamlMap('return_kwargs', flags.return_kwargs),
      metadata: yamlMap('metadata', flags.metadata),
      moduleExecutors: yamlList('module-executors', flags['module-executors']),
      executorOpts: yamlMap('executor-opts', flags['executor-opts']),
    }),
  }
}

const present = (values: Partial<PublishRequest>): Partial<PublishRequest> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
