/**
 * Run programs on the minion.
 *
 * A caller of this module can do anything that the minion's user can, which is usually root.
 *
 * A command of a job goes through the shell, with pipes, globs and `;`. A call from another module does not, unless it
 * passes `python_shell=True` or the minion is configured with `cmd_safe: False`: its text is only split into words. A
 * list of words never goes through a shell.
 */
import { CommandExecutionError, fn, p } from 'salt-ts'
import { runInChroot } from './_cmd/chroot.ts'
import { command, options } from './_cmd/params.ts'
import { runCommand } from './_cmd/run.ts'
import { runCode, runScript } from './_cmd/script.ts'
import { listShells, shellInfo } from './_cmd/shells.ts'
import { echoTo } from './_cmd/tty.ts'
import { which as findProgram } from './_cmd/which.ts'
import { textOnly } from './_values/text-only.ts'

const { cwd, ...beyondCwd } = options
const scriptParams = { source: p.string(), args: p.optional(p.any()), ...options }
const codeParams = { lang: p.string(), code: textOnly(), cwd, args: p.optional(p.any()), ...beyondCwd }

/**
 * Run a command and return its output, stdout and stderr in the order they were written.
 *
 * A failure sets the return code of the job, unless `ignore_retcode`, `success_retcodes`, `success_stdout` or
 * `success_stderr` apply. After `timeout` seconds the command and all processes it started are killed.
 *
 * @example salt '*' cmd.run "ls -l | awk '/foo/{print $2}'"
 * @example salt '*' cmd.run 'grep f' stdin='one\ntwo\nthree\n'
 * @example salt '*' cmd.run 'echo $GREETING' env='{GREETING: hello}' runas=nobody timeout=10
 */
export const run = fn({ cmd: command, ...options }, async ({ cmd, ...rest }, context) => {
  return (await runCommand(cmd, rest, context, { merged: true })).stdout
})

/**
 * Run a command through the shell, also when called from another module.
 *
 * @example salt '*' cmd.shell 'ls *.conf | wc -l' cwd=/etc
 */
export const shell = fn({ cmd: command, ...options }, async ({ cmd, ...rest }, context) => {
  const python_shell = rest.python_shell ?? true
  return (await runCommand(cmd, { ...rest, python_shell }, context, { merged: true })).stdout
})

/**
 * Run a command and return only its stdout.
 *
 * @example salt '*' cmd.run_stdout 'ls -l'
 */
export const run_stdout = fn({ cmd: command, ...options }, async ({ cmd, ...rest }, context) => {
  return (await runCommand(cmd, rest, context, { merged: false })).stdout
})

/**
 * Run a command and return only its stderr.
 *
 * @example salt '*' cmd.run_stderr 'ls /nonexistent'
 */
export const run_stderr = fn({ cmd: command, ...options }, async ({ cmd, ...rest }, context) => {
  return (await runCommand(cmd, rest, context, { merged: false })).stderr
})

/**
 * Run a command and return a map of `pid`, `retcode`, `stdout` and `stderr`. A negative retcode is the number of the
 * signal that ended the command.
 *
 * @example salt '*' cmd.run_all 'ls -l /nonexistent'
 */
export const run_all = fn({ cmd: command, ...options }, async ({ cmd, ...rest }, context) =>
  startedOrEnded(await runCommand(cmd, rest, context, { merged: false }), rest.bg),
)

/** Return the result of a command, without the return code of one that still runs in the background. */
const startedOrEnded = <T extends object>(result: T, isInBackground: boolean) =>
  isInBackground ? { ...result, retcode: null } : result

/**
 * Run a command and return its return code.
 *
 * @example salt '*' cmd.retcode 'file /bin/bash'
 */
export const retcode = fn({ cmd: command, ...options }, async ({ cmd, ...rest }, context) => {
  return startedOrEnded(await runCommand(cmd, rest, context, { merged: true }), rest.bg).retcode
})

/**
 * Start a command in the background, in a new session, and return its pid. Its output is discarded, and `timeout` does
 * not apply.
 *
 * @example salt '*' cmd.run_bg 'sleep 600'
 */
export const run_bg = fn({ cmd: command, ...options }, async ({ cmd, ...rest }, context) => {
  const { pid } = await runCommand(cmd, { ...rest, bg: true }, context, { merged: false })
  return { pid }
})

/**
 * Run a command inside a chroot, with /dev, /proc, /sys and the folders of `binds` mounted while it runs.
 * `runas` and `group` are looked up inside the chroot. Returns what `cmd.run_all` returns.
 *
 * @example salt '*' cmd.run_chroot /var/lib/lxc/container_name/rootfs 'sh /tmp/bootstrap.sh'
 */
export const run_chroot = fn(
  { root: p.string(), cmd: command, ...options, binds: p.default(p.array(p.string()), []) },
  ({ root, cmd, binds, ...rest }, context) => runInChroot(root, cmd, binds, rest, context),
)

/**
 * Run a script with arguments and return what `cmd.run_all` returns. The script is a path on the minion, or a URL to
 * fetch it from: salt:// for the master's file server, http:// or https:// for another server.
 *
 * @example salt '*' cmd.script salt://scripts/runme.sh 'arg1 arg2 "arg 3"'
 * @example salt '*' cmd.script /srv/report.sh args='["a b", c]' runas=backup timeout=60
 */
export const script = fn(scriptParams, async ({ source, args, ...rest }, context) =>
  startedOrEnded(await runScript(source, args, rest, context), rest.bg),
)

/**
 * Run a script as `cmd.script` does and return its return code.
 *
 * @example salt '*' cmd.script_retcode /usr/local/bin/runme.sh 'arg1 arg2'
 */
export const script_retcode = fn(
  scriptParams,
  async ({ source, args, ...rest }, context) =>
    startedOrEnded(await runScript(source, args, rest, context), rest.bg).retcode,
)

/**
 * Run code given as text with an interpreter and return its stdout.
 *
 * @example salt '*' cmd.exec_code ruby 'puts "cheese"'
 * @example salt '*' cmd.exec_code python3 'import sys; print(sys.argv[1:])' args='["arg1", "arg2"]'
 */
export const exec_code = fn(
  codeParams,
  async ({ lang, code, args, ...rest }, context) => (await runCode(lang, code, args, rest, context)).stdout,
)

/**
 * Run code given as text with an interpreter and return what `cmd.run_all` returns.
 *
 * @example salt '*' cmd.exec_code_all ruby 'puts "cheese"'
 */
export const exec_code_all = fn(codeParams, ({ lang, code, args, ...rest }, context) =>
  runCode(lang, code, args, rest, context),
)

/**
 * Return the path of a program, or null.
 *
 * @example salt '*' cmd.which cat
 */
export const which = fn({ cmd: textOnly() }, ({ cmd }) => findProgram(cmd))

/**
 * Return the path of the first of several programs that is installed, or null.
 *
 * @example salt '*' cmd.which_bin '[pip3, pip, pip-python]'
 */
export const which_bin = fn({ cmds: p.union(p.string(), p.array(p.string())) }, async ({ cmds }) => {
  for (const cmd of [cmds].flat()) {
    const path = await findProgram(cmd)
    if (path !== null) return path
  }
  return null
})

/**
 * True if a program is installed.
 *
 * @example salt '*' cmd.has_exec cat
 */
export const has_exec = fn({ cmd: p.string() }, async ({ cmd }) => (await findProgram(cmd)) !== null)

/**
 * List the shells in /etc/shells.
 *
 * @example salt '*' cmd.shells
 */
export const shells = fn(() => listShells())

/**
 * Return whether a shell or scripting language (bash, zsh, tcsh, perl, python, ruby, php, node) is installed, and its
 * version.
 *
 * @example salt '*' cmd.shell_info bash
 */
export const shell_info = fn(
  { shell: p.string(), list_modules: p.default(p.boolean(), false) },
  ({ shell }) => shellInfo(shell),
)

/**
 * Write a text to a terminal.
 *
 * @example salt '*' cmd.tty tty0 'This is a test'
 * @example salt '*' cmd.tty pts3 'This is a test'
 */
export const tty = fn({ device: p.string(), echo: p.default(p.string(), '') }, ({ device, echo }) =>
  echoTo(device, echo),
)

/**
 * Run a PowerShell command. Works only on Windows minions; refused here.
 *
 * @example salt '*' cmd.powershell '$PSVersionTable.CLRVersion'
 */
export const powershell = fn({ cmd: command, ...options }, noPowershell)

/**
 * Run a PowerShell command and return its full result. Works only on Windows minions; refused here.
 *
 * @example salt '*' cmd.powershell_all '$PSVersionTable.CLRVersion'
 */
export const powershell_all = fn({ cmd: command, ...options }, noPowershell)

function noPowershell(): never {
  throw new CommandExecutionError(
    'PowerShell functions work only on Windows minions; use cmd.run, with shell=/usr/bin/pwsh if PowerShell is installed',
  )
}
