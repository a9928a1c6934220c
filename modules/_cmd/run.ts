import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { environment } from '../_cp/places.ts'
import { type RenderOptions, renderEach } from '../_template/index.ts'
import { isMapping, mergedMaps } from '../_values/traverse.ts'
import { decodeOutput } from './decode.ts'
import type { CommandLine, Options, ProcessResult } from './params.ts'
import { checkTemplate, type Manner, planCommand } from './plan.ts'
import { type Ended, runProcess, startInBackground } from './process.ts'
import { logEnd, logStart } from './report.ts'

/** Run a command, decode and log its output, and set the job's retcode. */
export async function runCommand(
  given: CommandLine,
  options: Options,
  context: Context,
  manner: Manner,
): Promise<ProcessResult> {
  const judge = judgement(options)
  const merged = options.redirect_stderr ?? manner.merged
  if (options.template) checkTemplate(context)
  const [command, cwd] = await renderEach(
    [given, options.cwd] as const,
    options.template,
    renderingOf(options, context),
    context,
  )
  const plan = await planCommand(command, { ...options, cwd }, context, { ...manner, merged })
  logStart(plan, options, context)
  if (options.bg) return { pid: await startInBackground(plan), retcode: 0, stdout: '', stderr: '' }
  const ended = await runProcess(plan, context.signal)
  const outcome = ended.timedOut ? timedOut(command, options, ended) : judge(textsOf(ended, options, context))
  context.retcode = options.ignore_retcode ? 0 : outcome.retcode
  logEnd(plan, outcome, options, context)
  if (options.raise_err && context.retcode !== 0) {
    throw new CommandExecutionError(options.hide_output ? '' : outcome.stdout || outcome.stderr)
  }
  return options.hide_output ? { ...outcome, stdout: '', stderr: '' } : outcome
}

/** What a template of a command has: `pillar` is merged over that of the minion. */
export function renderingOf({ saltenv, pillar }: Options, context: Context): RenderOptions {
  return {
    saltenv: environment(context, saltenv),
    ...(isMapping(pillar) && { variables: { pillar: mergedMaps(context.pillar, pillar) } }),
  }
}

function textsOf(ended: Ended, options: Options, { log }: Context): ProcessResult {
  const decoded = (bytes: Buffer) => {
    const text = decodeOutput(bytes, options.output_encoding, log)
    return options.rstrip ? text.trimEnd() : text
  }
  return { pid: ended.pid, retcode: ended.code, stdout: decoded(ended.stdout), stderr: decoded(ended.stderr) }
}

function timedOut(command: CommandLine, options: Options, { pid }: Ended): ProcessResult {
  const line = Array.isArray(command) ? command.join(' ') : String(command)
  return { pid, retcode: 1, stdout: `${line} : Timed out after ${options.timeout} seconds`, stderr: '' }
}

// success_retcodes, success_stdout and success_stderr turn a failure into a success.
function judgement(options: Options): (outcome: ProcessResult) => ProcessResult {
  const codes = listOf(options.success_retcodes ?? 0).map(retcodeOf)
  const inStdout = listOf(options.success_stdout)
  const inStderr = listOf(options.success_stderr)
  return (outcome) => {
    const good =
      codes.includes(outcome.retcode) ||
      inStdout.some((text) => outcome.stdout.includes(text)) ||
      inStderr.some((text) => outcome.stderr.includes(text))
    return good ? { ...outcome, retcode: 0 } : outcome
  }
}

/** Parse a list, which users write as a list or as comma-separated text. */
function listOf(given: unknown): string[] {
  if (given === undefined || given === null) return []
  return Array.isArray(given)
    ? given.map(String)
    : String(given)
        .split(',')
        .map((text) => text.trim())
}

function retcodeOf(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new SaltInvocationError('success_retcodes must be a list of integers')
  return Number(text)
}
