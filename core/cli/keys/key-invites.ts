/** Invitations (`salt-key --invite`): tokens that let new minions in without a person. */
import type { MasterConfig } from '../../config/index.ts'
import { type Invite, Invites, type KeyAudit, loadMasterKeys, type Operator } from '../../keys/index.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import type { Printer } from '../output/printer.ts'

export interface InviteTools {
  readonly config: MasterConfig
  readonly audit: KeyAudit
  readonly who: Operator
  readonly printer: Printer
}

export interface InviteRequest {
  readonly ttl: string
  readonly match: string
  readonly uses: number
}

const SECONDS_PER_UNIT = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
])
const MAX_TTL_MS = 30 * 86_400_000
const MAX_USES = 10_000

/** Create an invitation. The token is the only line on standard output. */
export async function invite({ ttl, match, uses }: InviteRequest, tools: InviteTools): Promise<number> {
  const { config, who } = tools
  const ttlMs = parseTtl(ttl)
  if (!Number.isInteger(uses) || uses < 1 || uses > MAX_USES) {
    throw new UsageError(`--uses needs a whole number from 1 to ${MAX_USES}, not ${uses}.`)
  }
  if (match.trim() === '')
    throw new UsageError('--match needs a shell pattern for the ids of minions, as web*.')
  const { key } = await loadMasterKeys(config)
  const user = who.sudo_user ?? who.user
  const { token, invite } = await withInvites(config, (invites) =>
    invites.make({ match, uses, ttlMs, user }, key.publicKey),
  )
  await record('invite', invite, tools)
  process.stdout.write(`${token}\n`)
  printNote(
    `Invitation ${invite.id}: good until ${new Date(invite.expires).toISOString()} for ${uses === 1 ? 'one minion' : `${uses} minions`} with an id like ${match}.\n` +
      'On the minion, before its first start: join_token: <token> in its configuration, or join_token_file with the\n' +
      'path of a file that holds it, or SALT_JOIN_TOKEN in the environment. Anyone who has the token can join: keep it secret.',
  )
  return exitCodes.ok
}

/** List the open invitations by id. */
export async function showInvites({ config, printer }: InviteTools): Promise<number> {
  const open = await withInvites(config, async (invites) => invites.list())
  const shown = open.map(({ id, match, left, made, expires, user }) => [
    id,
    { match, left, made: new Date(made).toISOString(), expires: new Date(expires).toISOString(), user },
  ])
  if (shown.length > 0 || printer.chosen !== undefined) await printer.print(Object.fromEntries(shown))
  else printNote('There are no open invitations.')
  return exitCodes.ok
}

export async function revokeInvite(id: string, tools: InviteTools): Promise<number> {
  const revoked = await withInvites(tools.config, (invites) => invites.revoke(id))
  if (!revoked) {
    printNote(`There is no open invitation '${id}'. List them with salt-key --invites.`)
    return exitCodes.nothing
  }
  await record('revoke-invite', revoked, tools)
  process.stdout.write(`Invitation ${id} revoked.\n`)
  return exitCodes.ok
}

/** Parse `90s`, `10m`, `1h`, `2d` or a number of seconds; return milliseconds. */
function parseTtl(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
  const ms = Number(number) * (SECONDS_PER_UNIT.get(unit) ?? 0) * 1000
  if (ms > 0 && ms <= MAX_TTL_MS) return ms
  throw new UsageError(`--ttl needs a time such as 90s, 10m, 1h or 2d, 30 days at most, not '${text}'.`)
}

async function withInvites<T>(config: MasterConfig, use: (invites: Invites) => Promise<T>): Promise<T> {
  const invites = new Invites(config.pki_dir)
  try {
    return await use(invites)
  } finally {
    await invites.close()
  }
}

function record(act: string, { id, match, left, expires }: Invite, { audit }: InviteTools): Promise<void> {
  const until = new Date(expires).toISOString()
  return audit.record([{ act, id, by: 'salt-key', match, uses: left, until }])
}
