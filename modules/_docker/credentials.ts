/** Log-ins to registries, as Docker's own client keeps them: in config.json, or in the program that it names for that. */
import { mkdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandExecutionError, type Context, writeFileAtomic } from 'salt-ts'
import { fileProblem } from '#internal'
import { runProgram } from '../_program/run.ts'
import type { Json } from './api.ts'

/** Docker's own registry, as its client names it. */
const HUB = 'https://index.docker.io/v1/'

interface DockerConfig {
  readonly auths?: Readonly<Record<string, Json>>
  /** The program that keeps all log-ins: `docker-credential-<name>`. */
  readonly credsStore?: string
  /** Programs by registry. */
  readonly credHelpers?: Readonly<Record<string, string>>
  readonly [other: string]: unknown
}

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** The user name of a log-in by token. */
const TOKEN = '<token>'

const configPath = (): string => join(process.env.DOCKER_CONFIG || join(homedir(), '.docker'), 'config.json')

async function readConfig(): Promise<DockerConfig> {
  const path = configPath()
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new CommandExecutionError(`${path} cannot be read: ${fileProblem(error)}`)
  }
  try {
    return JSON.parse(text) as DockerConfig
  } catch {
    throw new CommandExecutionError(`${path} is not valid JSON; correct it, or remove it and log in again.`)
  }
}

async function writeConfig(config: DockerConfig): Promise<void> {
  const path = configPath()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFileAtomic(path, `${JSON.stringify(config, null, '\t')}\n`)
}

/** Return the name of a registry in config.json: its host, and for Docker's own one its whole URL. */
export function serverOf(registry: string): string {
  if (['hub', 'docker.io', 'index.docker.io', HUB].includes(registry.toLowerCase())) return HUB
  return registry.replace(/^https?:\/\//, '').replace(/\/.*$/, '')
}

/** Return the registry that an image's name names. */
function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/')
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  return serverOf(isHost ? first : 'hub')
}

const helperOf = ({ credHelpers, credsStore }: DockerConfig, server: string): string | undefined =>
  credHelpers?.[server] ?? credsStore

/** Keep a log-in; in place of the password, the token that the registry gave for it, if any. */
export async function keep(
  server: string,
  { username, password }: Credentials,
  token: string,
  context: Context,
): Promise<void> {
  const config = await readConfig()
  const helper = helperOf(config, server)
  if (helper) {
    const login = token ? { Username: TOKEN, Secret: token } : { Username: username, Secret: password }
    await runHelper(helper, 'store', { ServerURL: server, ...login }, context)
  }
  const auth = Buffer.from(`${username}:${token ? '' : password}`).toString('base64')
  const entry = helper ? {} : { auth, ...(token && { identitytoken: token }) }
  await writeConfig({ ...config, auths: { ...config.auths, [server]: entry } })
}

/** Forget a log-in. */
export async function forget(server: string, context: Context): Promise<void> {
  const config = await readConfig()
  const kept = Object.entries(config.auths ?? {})
  const helper = helperOf(config, server)
  const others = kept.filter(([name]) => serverOf(name) !== server)
  if (others.length === kept.length) return
  if (helper) await runHelper(helper, 'erase', server, context)
  await writeConfig({ ...config, auths: Object.fromEntries(others) })
}

/** Return the header with the log-in for the registry of an image. Docker wants one also where there is none. */
export async function authHeader(image: string, context: Context): Promise<Record<string, string>> {
  const server = registryOf(image)
  const found = await credentialsOf(server, await readConfig(), context)
  return { 'x-registry-auth': encoded(found ?? {}) }
}

/** Return the header with all log-ins, of which Docker takes those that a build needs. */
export async function allAuthHeader(context: Context): Promise<Record<string, string>> {
  const config = await readConfig()
  const names = [...new Set([...Object.keys(config.auths ?? {}), ...Object.keys(config.credHelpers ?? {})])]
  const all: Record<string, Json> = {}
  for (const name of names) {
    const found = await credentialsOf(serverOf(name), config, context)
    if (found) all[serverOf(name)] = found
  }
  return names.length > 0 ? { 'x-registry-config': encoded(all) } : {}
}

const encoded = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64').replaceAll('+', '-').replaceAll('/', '_')

async function credentialsOf(
  server: string,
  config: DockerConfig,
  context: Context,
): Promise<Json | undefined> {
  const helper = helperOf(config, server)
  if (helper) return fromHelper(helper, server, context)
  const [, entry] = Object.entries(config.auths ?? {}).find(([name]) => serverOf(name) === server) ?? []
  if (entry?.identitytoken) return { identitytoken: entry.identitytoken, serveraddress: server }
  if (typeof entry?.auth !== 'string') return undefined
  const [username = '', ...rest] = Buffer.from(entry.auth, 'base64').toString('utf8').split(':')
  return { username, password: rest.join(':'), serveraddress: server }
}

async function fromHelper(helper: string, server: string, context: Context): Promise<Json | undefined> {
  const given = await runHelper(helper, 'get', server, context, true)
  if (given === undefined) return undefined
  const { Username, Secret } = JSON.parse(given) as { Username: string; Secret: string }
  if (Username === TOKEN) return { identitytoken: Secret, serveraddress: server }
  return { username: Username, password: Secret, serveraddress: server }
}

/** Run the program that keeps log-ins. What it reads and writes stays out of the log, and off its command line. */
async function runHelper(
  helper: string,
  action: 'store' | 'get' | 'erase',
  input: unknown,
  context: Context,
  mayFail = false,
): Promise<string | undefined> {
  const program = `docker-credential-${helper}`
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const ended = await runProgram([program, action], context, {
    input: text,
    quiet: true,
    ignoreRetcode: true,
    env: { HOME: homedir() },
  })
  if (ended.retcode === 0) return ended.stdout
  if (mayFail) return undefined
  throw new CommandExecutionError(`${program} failed to ${action} the log-in: return code ${ended.retcode}`)
}
