import { type Args, p } from 'salt-ts'

const text = () => p.optional(p.string())
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)

/** A command line, or a list of words, which never goes through a shell. */
export const command = p.union(p.string(), p.number(), p.boolean(), p.array(p.any()))
export type CommandLine = string | number | boolean | readonly unknown[]

/** Parameters of every `cmd` function that starts a program, in the order of positional arguments. */
export const options = {
  cwd: text(),
  stdin: p.secret(p.optional(p.union(p.string(), p.number()))),
  runas: text(),
  group: text(),
  shell: text(),
  python_shell: p.optional(p.boolean()),
  env: p.secret(
    p.optional(p.any({ description: 'A map, a list of maps, or text with one NAME=value per line.' })),
  ),
  clean_env: flag(false),
  template: text(),
  rstrip: flag(true),
  umask: p.optional(p.union(p.string(), p.integer())),
  output_encoding: text(),
  output_loglevel: p.default(p.string(), 'debug'),
  hide_output: flag(false),
  timeout: p.optional(p.number({ minimum: 0, description: 'Time limit in seconds.' })),
  reset_system_locale: flag(true),
  ignore_retcode: flag(false),
  saltenv: text(),
  use_vt: flag(false),
  redirect_stderr: p.optional(p.boolean()),
  bg: flag(false),
  password: p.secret(text()),
  encoded_cmd: flag(false),
  raise_err: flag(false),
  prepend_path: text(),
  success_retcodes: p.optional(p.any()),
  success_stdout: p.optional(p.any()),
  success_stderr: p.optional(p.any()),
  stdin_raw_newlines: flag(false),
  pillar: p.secret(p.optional(p.any({ description: 'A map that a template has over the pillar.' }))),
} as const

export type Options = Args<typeof options>

/** Result of a command, in the shape of `cmd.run_all`. */
export interface ProcessResult {
  readonly pid: number
  readonly retcode: number
  readonly stdout: string
  readonly stderr: string
}
