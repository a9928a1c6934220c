/** Manage containers, images, networks and volumes of Docker, through its unix socket. */

import { CommandExecutionError, type Context, fn, p } from 'salt-ts'
import { fnmatch } from '#internal'
import { address, DockerRefusal, docker, dockerJson, filterText, ifAbsent, type Json } from './_docker/api.ts'
import { buildImage, buildParams } from './_docker/build.ts'
import { compareContainers, compareNetworkFacts } from './_docker/compare.ts'
import { compareConnections } from './_docker/compare-connections.ts'
import {
  change,
  changeRunning,
  containers,
  ending,
  gone,
  inspect,
  isThere,
  make,
  makeRoom,
  namesOfContainers,
  stateOf,
  stopContainer,
} from './_docker/containers.ts'
import { copyFrom, copyTo } from './_docker/copy.ts'
import { described, versionNumbers } from './_docker/describe.ts'
import { checkDriver, commandParams, runInside } from './_docker/exec.ts'
import { allImages, imageId, inspectImage, tagsOf, tagsOfImages } from './_docker/images.ts'
import { importImage, loadImages, tagImage } from './_docker/load.ts'
import {
  connect,
  connectedTo,
  createNetwork,
  disconnect,
  disconnectAll,
  inspectNetwork,
} from './_docker/networks.ts'
import { readOutput } from './_docker/output.ts'
import { danglingImages, pruneUnused } from './_docker/prune.ts'
import { logIn, logOut } from './_docker/registries.ts'
import { dependents, removeImages } from './_docker/remove-images.ts'
import { NEW_FILE, saveArchive, saveParams } from './_docker/save.ts'
import { runScriptInside, scriptParams } from './_docker/script.ts'
import { searchImages } from './_docker/search.ts'
import { pullImage, pushImage } from './_docker/transfer.ts'

export const virtualName = 'docker'

const name = p.string()
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const seconds = p.optional(p.integer({ minimum: 0 }))
const STOP_SECONDS = 10
const filters = p.optional(p.record(p.any()))
const names = p.union(p.string(), p.array(p.string()))
const someNames = p.optional(names)
/** A network: its name or id, or what Docker has on it. */
const network = p.union(p.string(), p.record(p.any()))
const client_timeout = p.default(p.integer(), 60)
/** What Salt has for its library; it changes nothing here. */
const ignored = {
  skip_translate: p.optional(p.any()),
  ignore_collisions: flag(false),
  validate_ip_addrs: flag(true),
  client_timeout,
}

/**
 * True if Docker answers.
 *
 * @example salt '*' docker.ping
 */
export const ping = fn(async (_, context) => (await docker('GET', '/_ping', context)).toString() === 'OK')

/**
 * Return the versions of Docker and its parts; `VersionInfo` and `ApiVersionInfo` are lists of numbers.
 *
 * @example salt '*' docker.version
 */
export const version = fn(async (_, context) => {
  const found = await dockerJson<Json>('GET', '/version', context)
  const [VersionInfo, ApiVersionInfo] = [found.Version, found.ApiVersion].map(versionNumbers)
  return { ...found, ...(VersionInfo && { VersionInfo }), ...(ApiVersionInfo && { ApiVersionInfo }) }
})

/**
 * Return what Docker says about this host.
 *
 * @example salt '*' docker.info
 */
export const info = fn((_, context) => dockerJson<Json>('GET', '/info', context))

/**
 * List the running containers by id; with `all`, those that are stopped too. `verbose` adds what Docker has on each, and `host` the
 * interfaces of the host.
 *
 * @example salt '*' docker.ps
 * @example salt '*' docker.ps all=True
 * @example salt '*' docker.ps filters="{'label': 'role=web'}"
 */
export const ps = fn(
  { filters, all: flag(false), verbose: flag(false), host: flag(false) },
  async ({ filters, all, verbose, host }, context) => {
    const found = await containers({ all, filters }, context)
    if (verbose) await addInfo(found, (id) => inspect(id, context))
    return host ? { ...found, host: { interfaces: await context.call('network.interfaces') } } : found
  },
)

/**
 * List the names of the running containers; with `all`, of those that are stopped too.
 *
 * @example salt '*' docker.list_containers all=True
 */
export const list_containers = fn({ all: flag(false) }, ({ all }, context) => namesOfContainers(all, context))

/**
 * List the images by id; with `all`, also those that only other images use. `verbose` adds what Docker has on each.
 *
 * @example salt '*' docker.images
 * @example salt '*' docker.images all=True
 */
export const images = fn({ verbose: flag(false), all: flag(false) }, async ({ verbose, all }, context) => {
  const found = await allImages(all, context)
  if (verbose) await addInfo(found, (id) => inspectImage(id, context))
  return found
})

/**
 * List the tags of all images.
 *
 * @example salt '*' docker.list_tags
 */
export const list_tags = fn((_, context) => tagsOfImages(context))

/**
 * Return the id of an image, or false if it is not on this host.
 *
 * @example salt '*' docker.resolve_image_id busybox
 */
export const resolve_image_id = fn({ name }, ({ name }, context) => imageId(name, context))

/**
 * Return the first tag of an image, or with `all` a list of its tags; its id if it has none, and false if it is not on this host.
 *
 * @example salt '*' docker.resolve_tag 1a9fedbd
 * @example salt '*' docker.resolve_tag 1a9fedbd all=True
 */
export const resolve_tag = fn({ name, all: flag(false) }, async ({ name, all }, context) => {
  const tags = await tagsOf(name, context)
  if (!tags) return false
  return all ? tags : tags[0]
})

/**
 * Return what Docker has on a container, an image, a volume or a network of this name.
 *
 * @example salt '*' docker.inspect busybox
 */
const inspectAny = fn({ name }, async ({ name }, context) => {
  for (const kind of [inspect, inspectImage, inspectVolume, inspectNetwork]) {
    try {
      return await kind(name, context)
    } catch (error) {
      if (!(error instanceof DockerRefusal && error.status === 404)) throw error
    }
  }
  throw new CommandExecutionError(`Error 404: No such image/container/volume/network: ${name}`)
})

export { inspectAny as inspect }

/**
 * Return what Docker has on a container.
 *
 * @example salt '*' docker.inspect_container mycontainer
 */
export const inspect_container = fn({ name }, ({ name }, context) => inspect(name, context))

/**
 * Return what Docker has on an image.
 *
 * @example salt '*' docker.inspect_image busybox
 */
export const inspect_image = fn({ name }, ({ name }, context) => inspectImage(name, context))

/**
 * True if a container of this name exists.
 *
 * @example salt '*' docker.exists mycontainer
 */
export const exists = fn({ name }, async ({ name }, context) => isThere(name, context))

/**
 * Return the containers that use an image, and the images that were made from it.
 *
 * @example salt '*' docker.depends myimage
 */
export const depends = fn({ name }, ({ name }, context) => dependents(name, context))

/**
 * Return what has changed in the files of a container since it was made: lists of paths by `Added`, `Changed` and `Deleted`.
 *
 * @example salt '*' docker.diff mycontainer
 */
export const diff = fn({ name }, async ({ name }, context) => {
  const changes = await dockerJson<{ Kind: number; Path: string }[] | null>(
    'GET',
    address(['containers', name, 'changes']),
    context,
  )
  const found: Record<string, string[]> = {}
  for (const { Kind, Path } of changes ?? []) {
    const kind = ['Changed', 'Added', 'Deleted'][Kind] ?? 'Unknown'
    found[kind] = [...(found[kind] ?? []), Path]
  }
  return found
})

/**
 * Return the steps by which an image was made, the first one first; with `quiet`, only their commands.
 *
 * @example salt '*' docker.history busybox
 * @example salt '*' docker.history busybox quiet=True
 */
export const history = fn({ name, quiet: flag(false) }, async ({ name, quiet }, context) => {
  const steps = await dockerJson<Json[]>('GET', address(['images', name, 'history']), context)
  const shown = steps.reverse().map(({ CreatedBy, ...rest }) => ({
    ...described(rest),
    Command: CreatedBy ? String(CreatedBy).replace(/^\/bin\/sh -c (?:#\(nop\) )?/, '') : 'FROM scratch',
  }))
  return quiet ? shown.map(({ Command }) => Command) : shown
})

/**
 * List the ids of the layers of an image, its own one last; `<missing>` stands for those that were made elsewhere.
 *
 * @example salt '*' docker.layers busybox
 */
export const layers = fn({ name }, async ({ name }, context) => {
  const steps = await dockerJson<Json[]>('GET', address(['images', name, 'history']), context).catch(ifAbsent)
  if (!steps) throw new CommandExecutionError(`Image '${name}' not found`)
  return steps.reverse().map(({ Id }) => String(Id).replace(/^sha256:(.{12}).*$/, '$1'))
})

/**
 * Return what a container has written. `tail` is a number of lines, `since` and `until` are times in seconds.
 *
 * @example salt '*' docker.logs mycontainer
 * @example salt '*' docker.logs mycontainer tail=100 stderr=False
 */
export const logs = fn(
  {
    name,
    stdout: flag(true),
    stderr: flag(true),
    timestamps: flag(false),
    follow: flag(false),
    tail: p.default(p.union(p.integer({ minimum: 0 }), p.enum('all')), 'all'),
    since: p.optional(p.integer()),
    until: p.optional(p.integer()),
  },
  async ({ name, ...query }, context) =>
    readOutput(await docker('GET', address(['containers', name, 'logs'], query), context)).all,
)

/**
 * Return the number of the first process of a container.
 *
 * @example salt '*' docker.pid mycontainer
 */
export const pid = fn({ name }, async ({ name }, context) => {
  const { State } = (await inspect(name, context)) as { State?: { Pid?: number } }
  return State?.Pid
})

/**
 * Return where the ports of a container are published. `name` may be a pattern; the ports are then by container.
 *
 * @example salt '*' docker.port mycontainer
 * @example salt '*' docker.port mycontainer 5000/udp
 */
export const port = fn(
  { name, private_port: p.optional(p.union(p.integer(), p.string())) },
  async ({ name, private_port }, context) => {
    const pattern = portPattern(private_port)
    const isPattern = /[*?[]/.test(name)
    const names = isPattern
      ? (await namesOfContainers(true, context)).filter((one) => fnmatch(one, name))
      : [name]
    const found = await Promise.all(
      names.map(async (one) => {
        const { NetworkSettings } = (await inspect(one, context)) as { NetworkSettings?: { Ports?: Json } }
        const ports = Object.entries(NetworkSettings?.Ports ?? {}).filter(([key]) => fnmatch(key, pattern))
        return [one, Object.fromEntries(ports)] as const
      }),
    )
    return isPattern ? Object.fromEntries(found) : found[0]![1]
  },
)

/**
 * List the processes of a container.
 *
 * @example salt '*' docker.top mycontainer
 */
export const top = fn({ name }, async ({ name }, context) => {
  const { Titles, Processes } = await dockerJson<{ Titles: string[]; Processes: string[][] }>(
    'GET',
    address(['containers', name, 'top']),
    context,
  )
  return Processes.map((values) => Object.fromEntries(Titles.map((title, index) => [title, values[index]])))
})

/**
 * Return the state of a container: running, paused or stopped.
 *
 * @example salt '*' docker.state mycontainer
 */
export const state = fn({ name }, ({ name }, context) => stateOf(name, context))

/**
 * Start a container, unless it is paused.
 *
 * @example salt '*' docker.start mycontainer
 */
export const start = fn({ name }, async ({ name }, context) => {
  const old = await stateOf(name, context)
  if (old !== 'paused') return change(name, 'start', 'running', context)
  return { result: false, state: { old, new: old }, comment: `Container '${name}' is paused, cannot start` }
})

/**
 * Stop a container: it is killed if it has not ended after `timeout` seconds. A paused one is stopped only with `unpause`.
 *
 * @example salt '*' docker.stop mycontainer timeout=20
 */
export const stop = fn(
  { name, timeout: seconds, unpause: flag(false) },
  async ({ name, timeout, unpause }, context) => stopContainer(name, { timeout, unpause }, context),
)

/**
 * Restart a container.
 *
 * @example salt '*' docker.restart mycontainer
 */
export const restart = fn(
  { name, timeout: p.default(p.integer({ minimum: 0 }), STOP_SECONDS) },
  async ({ name, timeout }, context) => {
    const changed = await change(name, `restart?t=${timeout}`, 'running', context)
    return changed.result ? { ...changed, restarted: true } : changed
  },
)

/**
 * Kill a container.
 *
 * @example salt '*' docker.kill mycontainer
 */
export const kill = fn({ name }, ({ name }, context) => change(name, 'kill', 'stopped', context))

/**
 * Stop the processes of a container until `docker.unpause`.
 *
 * @example salt '*' docker.pause mycontainer
 */
export const pause = fn({ name }, ({ name }, context) => changeRunning(name, 'pause', 'paused', context))
export { pause as freeze }

/**
 * Let the processes of a paused container go on.
 *
 * @example salt '*' docker.unpause mycontainer
 */
export const unpause = fn({ name }, ({ name }, context) => changeRunning(name, 'unpause', 'running', context))
export { unpause as unfreeze }

/**
 * Send a signal to the first process of a container.
 *
 * @example salt '*' docker.signal mycontainer SIGHUP
 */
export const signal = fn(
  { name, signal: p.union(p.string(), p.integer()) },
  async ({ name, signal }, context) => {
    await docker('POST', address(['containers', name, 'kill'], { signal }), context)
    return true
  },
)

/**
 * Wait until a container ends, and return its exit status, which in Salt is in a map. With `fail_on_exit_status`, the result is false if
 * it ended with another status than 0.
 *
 * @example salt '*' docker.wait mycontainer
 */
export const wait = fn(
  { name, ignore_already_stopped: flag(false), fail_on_exit_status: flag(false) },
  async ({ name, ignore_already_stopped, fail_on_exit_status }, context) => {
    const old = await stateOf(name, context).catch(ifAbsent)
    if (old === null) return { result: ignore_already_stopped, comment: `Container '${name}' absent` }
    const wasStopped = old === 'stopped'
    const ended = await dockerJson<{ StatusCode: number }>(
      'POST',
      address(['containers', name, 'wait']),
      context,
    )
    const now = await stateOf(name, context).catch(ifAbsent)
    const isDone = wasStopped ? ignore_already_stopped : now === 'stopped'
    return {
      result: isDone && !(fail_on_exit_status && ended.StatusCode !== 0),
      state: { old, new: now },
      exit_status: ended.StatusCode,
      ...(wasStopped && { comment: `Container '${name}' already stopped` }),
    }
  },
)

/**
 * Give a container another name.
 *
 * @example salt '*' docker.rename mycontainer newname
 */
export const rename = fn({ name, new_name: p.string() }, async ({ name, new_name }, context) => {
  const { Id } = await inspect(name, context)
  await docker('POST', address(['containers', String(Id), 'rename'], { name: new_name }), context)
  return (await inspect(new_name, context)).Id === Id
})

/**
 * Remove a container and return its id in a list. `force` also removes one that is running, and `stop` stops it first.
 *
 * @example salt '*' docker.rm mycontainer
 * @example salt '*' docker.rm mycontainer force=True
 */
export const rm = fn(
  { name, force: flag(false), volumes: flag(false), stop: flag(false), timeout: seconds },
  async ({ name, force, volumes, stop, timeout }, context) => {
    if (!force && !stop && (await stateOf(name, context)) === 'running') {
      throw new CommandExecutionError(
        `Container '${name}' is running, use force=True to forcibly remove this container`,
      )
    }
    const before = Object.keys(await containers({ all: true }, context))
    if (stop && !force) await stopContainer(name, { timeout, unpause: false }, context)
    // One that removes itself is gone when it has stopped.
    await docker('DELETE', address(['containers', name], { force, v: volumes }), context).catch(
      stop ? ifAbsent : raise,
    )
    return gone(before, context)
  },
)

/**
 * Make a container, and with `start` start it. An image that is missing is pulled. The options are those of Salt, such as `command`,
 * `environment`, `binds`, `port_bindings` and `restart_policy`; `host_config` takes what Docker's interface has beyond them.
 *
 * @example salt '*' docker.create nginx name=web port_bindings=8080:80 start=True
 * @example salt '*' docker.create debian command='sleep 60' environment="{'A': '1'}"
 */
export const create = fn(
  {
    image: p.string(),
    name: p.optional(p.string()),
    start: flag(false),
    ...ignored,
    kwargs: p.keywords(p.any()),
  },
  async ({ image, name, start, kwargs }, context) => {
    const since = Date.now()
    const made = await make(image, name, kwargs, context)
    if (start) await docker('POST', address(['containers', made.Id, 'start']), context)
    return { ...made, Time_Elapsed: (Date.now() - since) / 1000, ...(start && { Started: true }) }
  },
)

/**
 * Run a container until it ends, and return what it wrote and its exit code; with `bg`, return as soon as it has started.
 *
 * @example salt '*' docker.run_container debian command='date' auto_remove=True
 * @example salt '*' docker.run_container nginx name=web bg=True replace=True force=True
 */
export const run_container = fn(
  {
    image: p.string(),
    name: p.optional(p.string()),
    ...ignored,
    bg: flag(false),
    replace: flag(false),
    force: flag(false),
    networks: p.optional(p.union(p.string(), p.record(p.record(p.any())))),
    kwargs: p.keywords(p.any()),
  },
  async ({ image, name, bg, replace, force, networks, kwargs }, context) => {
    const replaced = name === undefined ? [] : await makeRoom(name, { replace, force }, context)
    const since = Date.now()
    const made = await make(image, name, kwargs, context)
    for (const [network, options] of Object.entries(networksOf(networks)))
      await connect(made.Id, network, options, context)
    await docker('POST', address(['containers', made.Id, 'start']), context)
    const ended = bg ? {} : await ending(made.Id, kwargs.auto_remove === true || kwargs.rm === true, context)
    return {
      ...made,
      ...(replaced.length > 0 && { Replaces: replaced }),
      Time_Elapsed: (Date.now() - since) / 1000,
      ...ended,
    }
  },
)

/**
 * Run a command in a running container and return what it writes. Its pipes and variables are those of the container; with
 * `python_shell=False` no shell is needed there.
 *
 * @example salt '*' docker.run mycontainer 'ls -l /etc'
 */
export const run = fn(commandParams, async (command, context) => (await runInside(command, context)).all)

/**
 * Run a command in a running container and return `pid`, `retcode`, `stdout` and `stderr`.
 *
 * @example salt '*' docker.run_all mycontainer 'ls -l /etc'
 */
export const run_all = fn(commandParams, async (command, context) => {
  const { all: _, ...ended } = await runInside(command, context)
  return ended
})

/**
 * Run a command in a running container and return what it writes to its standard output.
 *
 * @example salt '*' docker.run_stdout mycontainer 'ls -l /etc'
 */
export const run_stdout = fn(
  commandParams,
  async (command, context) => (await runInside(command, context)).stdout,
)

/**
 * Run a command in a running container and return what it writes to its standard error.
 *
 * @example salt '*' docker.run_stderr mycontainer 'ls -l /etc'
 */
export const run_stderr = fn(
  commandParams,
  async (command, context) => (await runInside(command, context)).stderr,
)

/**
 * Run a command in a running container and return its return code.
 *
 * @example salt '*' docker.retcode mycontainer 'ls -l /etc'
 */
export const retcode = fn(
  commandParams,
  async (command, context) => (await runInside(command, context)).retcode,
)

/**
 * Run a script of the minion or of the file server in a running container, and return what `docker.run_all` does. It is copied into
 * the container, and removed when it has ended; `template` (jinja) renders it first.
 *
 * @example salt '*' docker.script mycontainer salt://scripts/runme.sh args='arg1 "arg 2"'
 * @example salt '*' docker.script mycontainer salt://scripts/runme.sh template=jinja stdin='one line'
 */
export const script = fn(scriptParams, (given, context) => runScriptInside(given, context))

/**
 * Run a script as `docker.script` does, and return its return code.
 *
 * @example salt '*' docker.script_retcode mycontainer salt://scripts/runme.sh args='arg1 arg2'
 */
export const script_retcode = fn(
  scriptParams,
  async (given, context) => (await runScriptInside(given, context)).retcode,
)

/**
 * Pull an image, with the log-in to its registry, if there is one. Return which layers are new, or errors and the return code 1.
 *
 * @example salt '*' docker.pull debian:12
 */
export const pull = fn(
  { image: p.string(), insecure_registry: flag(false), api_response: flag(false), client_timeout },
  ({ image, api_response }, context) => pullImage(image, api_response, context),
)

/**
 * Push an image to its registry, with the log-in that `docker.login` or `docker login` left. Without a tag, all tags of the name are
 * pushed. Return which layers are new there, or errors and the return code 1.
 *
 * @example salt '*' docker.push myuser/mycontainer:mytag
 */
export const push = fn(
  { image: p.string(), insecure_registry: flag(false), api_response: flag(false), client_timeout },
  ({ image, api_response }, context) => pushImage(image, api_response, context),
)

/**
 * Log in to registries, by default to all that the minion has in `docker-registries` of its pillar or configuration: a map of
 * registries, each with `username` and `password`; `hub` is Docker's own. The log-in is kept where Docker's client keeps it.
 *
 * @example salt '*' docker.login
 * @example salt '*' docker.login hub registry.example.com
 */
export const login = fn({ registries: p.rest(p.string()) }, ({ registries }, context) =>
  logIn(registries, context),
)

/**
 * Log out of registries, by default of all that the minion has in `docker-registries`.
 *
 * @example salt '*' docker.logout
 * @example salt '*' docker.logout hub
 */
export const logout = fn({ registries: p.rest(p.string()) }, ({ registries }, context) =>
  logOut(registries, context),
)

/**
 * Search Docker's registry for images by a word. With `official` or `trusted`, only such images are returned.
 *
 * @example salt '*' docker.search debian
 * @example salt '*' docker.search debian official=True
 */
export const search = fn(
  { name, official: flag(false), trusted: flag(false) },
  ({ name, official, trusted }, context) => {
    const wanted = [...(official ? ['Official'] : []), ...(trusted ? ['Trusted'] : [])]
    return searchImages(name, wanted, context)
  },
)

/**
 * List the images without a tag from which no other image was made. With `prune` they are removed, and the result says of each what
 * became of it.
 *
 * @example salt '*' docker.dangling
 * @example salt '*' docker.dangling prune=True force=True
 */
export const dangling = fn({ prune: flag(false), force: flag(false) }, (given, context) =>
  danglingImages(given, context),
)

/**
 * Remove what is not used: stopped containers, images, networks and the cache of builds, or those of them that are chosen; volumes only
 * with `volumes`. Further keywords are filters: `dangling`, `until` and `label`.
 *
 * @example salt '*' docker.prune
 * @example salt '*' docker.prune images=True dangling=True label=foo,bar=baz
 * @example salt '*' docker.prune system=True until=12h
 */
export const prune = fn(
  {
    containers: flag(false),
    networks: flag(false),
    images: flag(false),
    build: flag(false),
    volumes: flag(false),
    system: p.optional(p.boolean()),
    filters: p.keywords(p.any()),
  },
  ({ filters, ...chosen }, context) => pruneUnused(chosen, filters, context),
)

/**
 * Remove images. Return the layers and the tags that are gone, and errors with the return code 1.
 *
 * @example salt '*' docker.rmi busybox
 * @example salt '*' docker.rmi busybox debian:11 force=True
 */
export const rmi = fn(
  { names: p.rest(p.string()), kwargs: p.keywords(p.any()) },
  ({ names, kwargs: { force = false, prune = true } }, context) =>
    removeImages(names, { force: Boolean(force), prune: Boolean(prune) }, context),
)

/**
 * Build an image of a folder with a Dockerfile, or of a URL that Docker fetches itself, and return its id, its tags and the time it
 * took. What `.dockerignore` names stays out. With `rm=False`, the containers of the steps are kept, and named.
 *
 * @example salt '*' docker.build /srv/web repository=myuser/web tag=v2
 * @example salt '*' docker.build /srv/web dockerfile=Dockerfile.test buildargs="{'VERSION': '2'}" cache=False
 * @example salt '*' docker.build https://github.com/myuser/myrepo.git repository=myuser/myrepo tag=latest
 */
export const build = fn(buildParams, (given, context) => buildImage(given, context))

/**
 * Give an image a tag.
 *
 * @example salt '*' docker.tag 0123456789ab myrepo/mycontainer v2
 */
export const tag = fn(
  { name, repository: p.string(), tag: p.default(p.string(), 'latest'), force: flag(false) },
  ({ name, ...wanted }, context) => tagImage(name, wanted, context),
)

/**
 * Write an image to a file of the minion. It is compressed with gzip, bzip2 or xz, as `compression` or the name of the file says. With
 * `push`, the file is also sent to the master, by `cp.push`.
 *
 * @example salt '*' docker.save debian:12 /tmp/debian.tar
 * @example salt '*' docker.save debian:12 /srv/images/debian.tar.gz overwrite=True makedirs=True push=True
 */
export const save = fn(saveParams, ({ name, ...given }, context) => {
  const archive = async () => {
    const { Id, RepoTags } = await inspectImage(name, context)
    const isTag = (RepoTags as string[] | null)?.includes(name)
    return address(['images', isTag ? name : String(Id), 'get'])
  }
  const failure = `Failed to save image(s) to ${given.path}`
  return saveArchive(given, { mode: 0o600, address: archive, failure }, context)
})

/**
 * Load images from a file that `docker.save` or `docker save` wrote: a path of the minion, or a URL of the file server. With
 * `repository` and `tag`, the topmost of the new images gets that tag.
 *
 * @example salt '*' docker.load /tmp/debian.tar
 * @example salt '*' docker.load salt://images/debian.tar.xz repository=myuser/debian tag=v2
 */
export const load = fn(
  { path: p.string(), repository: p.optional(p.string()), tag: p.optional(p.string()) },
  ({ path, ...tag }, context) => loadImages(path, tag, context),
)

/**
 * Make an image of a tar archive of files: a path of the minion, a URL of the file server, or one that Docker fetches itself.
 *
 * @example salt '*' docker.import /tmp/rootfs.tar.xz myuser/rootfs
 * @example salt '*' docker.import salt://images/rootfs.tar.xz myuser/rootfs v2
 */
const import_ = fn(
  {
    source: p.string(),
    repository: p.string(),
    tag: p.default(p.string(), 'latest'),
    api_response: flag(false),
  },
  (given, context) => importImage(given, context),
)

export { import_ as import }

/**
 * Write the files of a container to a tar archive on the minion. It is compressed with gzip, bzip2 or xz, as `compression` or the name
 * of the file says. With `push`, the file is also sent to the master, by `cp.push`.
 *
 * @example salt '*' docker.export mycontainer /tmp/mycontainer.tar
 * @example salt '*' docker.export mycontainer /tmp/mycontainer.tar.xz overwrite=True
 */
const export_ = fn(saveParams, ({ name, ...given }, context) => {
  const archive = async () => address(['containers', name, 'export'])
  const failure = 'Error occurred during container export'
  return saveArchive(given, { mode: NEW_FILE & ~process.umask(), address: archive, failure }, context)
})

export { export_ as export }

/**
 * Copy a file of a running container to the minion. In a folder, it gets the name of the source.
 *
 * @example salt '*' docker.copy_from mycontainer /var/log/nginx/access.log /home/myuser
 * @example salt '*' docker.cp mycontainer /etc/motd /srv/new/motd overwrite=True makedirs=True
 */
export const copy_from = fn(
  { name, source: p.string(), dest: p.string(), overwrite: flag(false), makedirs: flag(false) },
  ({ name, ...given }, context) => copyFrom(name, given, context),
)
export { copy_from as cp }

/**
 * Copy a file of the minion or of the file server into a running container, by a shell there. In a folder, it gets the name of the
 * source.
 *
 * @example salt '*' docker.copy_to mycontainer /tmp/foo /root/foo
 * @example salt '*' docker.copy_to mycontainer salt://web/index.html /srv/www overwrite=True
 */
export const copy_to = fn(
  {
    name,
    source: p.string(),
    dest: p.string(),
    exec_driver: p.optional(p.string()),
    overwrite: flag(false),
    makedirs: flag(false),
  },
  ({ name, exec_driver, ...given }, context) => {
    checkDriver(exec_driver)
    return copyTo(name, given, context)
  },
)

/**
 * Return the differences between the configurations of two containers. `ignore` are keys that do not count.
 *
 * @example salt '*' docker.compare_containers web1 web2
 * @example salt '*' docker.compare_containers web1 web2 ignore=Hostname
 */
export const compare_containers = fn(
  { first: p.string(), second: p.string(), ignore: someNames },
  ({ first, second, ignore }, context) => compareContainers([first, second], split(ignore ?? []), context),
)
export { compare_containers as compare_container }

/**
 * Return the differences between the networks of two containers: in the keys of `docker.compare_container_networks`, which are Aliases,
 * Links and IPAMConfig.
 *
 * @example salt '*' docker.compare_container_networks web1 web2
 */
export const compare_container_networks = fn(
  { first: p.string(), second: p.string() },
  ({ first, second }, context) => compareConnections([first, second], context),
)

/**
 * Make an image of a container.
 *
 * @example salt '*' docker.commit mycontainer myuser/myimage mytag
 */
export const commit = fn(
  {
    name,
    repository: p.string(),
    tag: p.default(p.string(), 'latest'),
    message: p.optional(p.string()),
    author: p.optional(p.string()),
  },
  async ({ name, repository, tag, message, author }, context) => {
    const since = Date.now()
    const query = { container: name, repo: repository, tag, comment: message, author }
    const { Id } = await dockerJson<{ Id: string }>('POST', address(['commit'], query), context)
    return { Time_Elapsed: (Date.now() - since) / 1000, Id }
  },
)

/**
 * List the networks, of which `names` and `ids` choose some.
 *
 * @example salt '*' docker.networks names=network-web
 */
export const networks = fn({ names: someNames, ids: someNames }, async ({ names, ids }, context) => {
  const chosen = { ...(names && { name: split(names) }), ...(ids && { id: split(ids) }) }
  const found = await dockerJson<Json[]>(
    'GET',
    address(['networks'], { filters: filterText(chosen) }),
    context,
  )
  return Promise.all(
    found.map(async (network) => {
      const { Containers } = await inspectNetwork(String(network.Id), context).catch(() => ({}) as Json)
      return Containers && Object.keys(Containers).length > 0 ? { ...network, Containers } : network
    }),
  )
})

/**
 * Return what Docker has on a network.
 *
 * @example salt '*' docker.inspect_network web
 */
export const inspect_network = fn({ network_id: name }, ({ network_id }, context) =>
  inspectNetwork(network_id, context),
)

/**
 * Make a network, and return its id. Options and labels are maps, lists of `NAME=value`, or text with commas. Several pools of addresses,
 * as for IPv4 and IPv6, are given as `ipam_pools`, a list of maps of `subnet`, `gateway`, `iprange` and `aux_addresses`.
 *
 * @example salt '*' docker.create_network web driver=bridge subnet=192.0.2.0/24 gateway=192.0.2.1
 * @example salt '*' docker.create_network web ipam_pools='[{subnet: 192.0.2.0/24, gateway: 192.0.2.1}, {subnet: "2001:db8::/64"}]' enable_ipv6=True
 */
export const create_network = fn(
  {
    name,
    ...ignored,
    driver: p.default(p.string(), 'bridge'),
    driver_opts: p.optional(p.any()),
    internal: flag(false),
    attachable: flag(false),
    ingress: flag(false),
    scope: p.optional(p.string()),
    enable_ipv6: flag(false),
    check_duplicate: flag(true),
    labels: p.optional(p.any()),
    ipam_driver: p.default(p.string(), 'default'),
    ipam_opts: p.optional(p.any()),
    ipam_pools: p.optional(p.array(p.record(p.any()))),
    subnet: p.optional(p.string()),
    gateway: p.optional(p.string()),
    ip_range: p.optional(p.string()),
    iprange: p.optional(p.string()),
    aux_addresses: p.optional(p.any()),
  },
  ({ name, ...given }, context) => createNetwork(name, given, context),
)

/**
 * Remove a network.
 *
 * @example salt '*' docker.remove_network web
 */
export const remove_network = fn({ network_id: name }, async ({ network_id }, context) => {
  await docker('DELETE', address(['networks', network_id]), context)
  return true
})

/**
 * Connect a container to a network.
 *
 * @example salt '*' docker.connect_container_to_network web1 web ipv4_address=192.0.2.5
 */
export const connect_container_to_network = fn(
  { container: name, net_id: name, kwargs: p.keywords(p.any()) },
  ({ container, net_id, kwargs }, context) => connect(container, net_id, kwargs, context),
)

/**
 * Disconnect a container from a network.
 *
 * @example salt '*' docker.disconnect_container_from_network web1 web
 */
export const disconnect_container_from_network = fn(
  { container: name, network_id: name },
  ({ container, network_id }, context) => disconnect(container, network_id, context),
)

/**
 * Disconnect all containers from a network, and return their names.
 *
 * @example salt '*' docker.disconnect_all_containers_from_network web
 */
export const disconnect_all_containers_from_network = fn({ network_id: name }, ({ network_id }, context) =>
  disconnectAll(network_id, context),
)

/**
 * List the running containers that are connected to a network; with `verbose`, by name with their addresses.
 *
 * @example salt '*' docker.connected web
 * @example salt '*' docker.connected web verbose=True
 */
export const connected = fn({ name, verbose: flag(false) }, async ({ name, verbose }, context) => {
  const found = await connectedTo(name, context)
  return verbose ? found : Object.keys(found)
})

/**
 * Return the differences between two networks. `ignore` are keys that do not count.
 *
 * @example salt '*' docker.compare_networks web web2
 * @example salt '*' docker.compare_networks web web2 ignore=Name,Id,Created,Containers,Labels
 */
export const compare_networks = fn(
  { first: network, second: network, ignore: p.default(names, 'Name,Id,Created,Containers') },
  async ({ first, second, ignore }, context) => {
    const facts = async (one: string | Json) => (typeof one === 'string' ? inspectNetwork(one, context) : one)
    return compareNetworkFacts(await facts(first), await facts(second), split(ignore))
  },
)

/**
 * List the volumes.
 *
 * @example salt '*' docker.volumes filters="{'dangling': True}"
 */
export const volumes = fn({ filters }, ({ filters }, context) =>
  dockerJson<Json>('GET', address(['volumes'], { filters: filterText(filters) }), context),
)

/**
 * Return what Docker has on a volume.
 *
 * @example salt '*' docker.inspect_volume data
 */
export const inspect_volume = fn({ name }, ({ name }, context) => inspectVolume(name, context))

/**
 * Make a volume.
 *
 * @example salt '*' docker.create_volume data driver=local
 */
export const create_volume = fn(
  { name, driver: p.optional(p.string()), driver_opts: p.optional(p.record(p.any())) },
  ({ name, driver, driver_opts }, context) =>
    dockerJson<Json>('POST', '/volumes/create', context, {
      Name: name,
      Driver: driver,
      DriverOpts: driver_opts,
    }),
)

/**
 * Remove a volume.
 *
 * @example salt '*' docker.remove_volume data
 */
export const remove_volume = fn({ name }, async ({ name }, context) => {
  await docker('DELETE', address(['volumes', name]), context)
  return true
})

const inspectVolume = (name: string, context: Context): Promise<Json> =>
  dockerJson<Json>('GET', address(['volumes', name]), context)

const raise = (error: unknown): never => {
  throw error
}

function portPattern(port: string | number | undefined): string {
  if (port === undefined) return '*'
  if (typeof port === 'number' || /^\d+$/.test(port)) return `${port}/*`
  if (/^\d+\/(tcp|udp)$/i.test(port)) return port.toLowerCase()
  throw new CommandExecutionError(
    `Invalid private_port '${port}'. Must either be a port number, or be in port/protocol notation (e.g. 5000/tcp)`,
  )
}

function networksOf(
  networks: string | Readonly<Record<string, Json>> | undefined,
): Readonly<Record<string, Json>> {
  if (typeof networks !== 'string') return networks ?? {}
  return Object.fromEntries(split(networks).map((name) => [name, {}]))
}

async function addInfo(
  found: Record<string, Json>,
  inspectOne: (id: string) => Promise<Json>,
): Promise<void> {
  await Promise.all(
    Object.entries(found).map(async ([id, item]) => {
      found[id] = { ...item, Info: await inspectOne(id) }
    }),
  )
}

const split = (names: string | readonly string[]): string[] =>
  (typeof names === 'string' ? names.split(',') : [...names]).map((name) => name.trim())
