import type { ClearHandler, EncryptedHandler } from '../../channel/request-server.ts'
import type { WorkerRoom } from '../room.ts'
import { catalogueHandler, verdictHandler } from './catalogue.ts'
import { fileHandlers } from './files.ts'
import { masterOpts } from './master-opts.ts'
import { minionEventHandler } from './minion-event.ts'
import { peerPublishHandlers } from './peer-publish.ts'
import { peerRunHandler } from './peer-run.ts'
import { pillarHandler } from './pillar.ts'
import { planHandler } from './plan.ts'
import { publishHandler } from './publish.ts'
import { returnHandler } from './return.ts'
import { revokeAuthHandler } from './revoke-auth.ts'
import { runFunctionHandlers } from './run-function.ts'
import { tokenHandlers } from './tokens.ts'

/** What is answered to a command that exists in the protocol and is not offered here. */
const notOffered = async () => ({})

/** Every clear command of the protocol (§8), and `_plan` and `_revoke_token` of our own, except `_auth`, which has a room of its own. */
export function clearHandlers(room: WorkerRoom): ReadonlyMap<string, ClearHandler> {
  return new Map<string, ClearHandler>([
    ['ping', async (load) => load],
    ['publish', publishHandler(room)],
    ['_plan', planHandler(room)],
    ...tokenHandlers(room),
    ...runFunctionHandlers(room),
  ])
}

/** Every encrypted command of the protocol (§7), and two of our own. Commands of features that are not there yet are refused by name. */
export function encryptedHandlers(room: WorkerRoom): ReadonlyMap<string, EncryptedHandler> {
  return new Map<string, EncryptedHandler>([
    ['_return', returnHandler(room)],
    ['_minion_event', minionEventHandler(room)],
    ['_pillar', pillarHandler(room)],
    ['_catalogue', catalogueHandler(room)],
    ['_verdict', verdictHandler(room)],
    ['_master_opts', masterOpts(room)],
    ['revoke_auth', revokeAuthHandler(room)],
    ...fileHandlers(room),
    ['_master_tops', notOffered],
    ['_mine', async () => false],
    ['_mine_get', notOffered],
    ['_mine_delete', async () => false],
    ['_mine_flush', async () => false],
    ['_syndic_return', notOffered],
    ...peerPublishHandlers(room),
    ['minion_runner', peerRunHandler(room)],
    ['verify_minion', async () => ''],
  ])
}
