/** Dependencies that minions cannot use: they are installed with `npm install --ignore-scripts`. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { installScriptOf } from '../../../loader/check/packages.ts'
import { memberOf, type PackageManifest, readManifest } from '../package-manifest.ts'

/** Return a sentence for each dependency that minions cannot use, also of dependencies. */
export async function dependencyProblems(folder: string, manifest: PackageManifest): Promise<string[]> {
  const own = Object.hasOwn(memberOf(manifest, 'dependencies'), 'salt-ts')
    ? [
        'salt-ts is one of its dependencies, but a minion uses its own copy: move it with npm install --save-dev salt-ts.',
      ]
    : []
  return [...own, ...(await problemsBelow(folder, manifest, new Set()))]
}

async function problemsBelow(
  folder: string,
  manifest: PackageManifest,
  seen: Set<string>,
): Promise<string[]> {
  const problems: string[] = []
  const names = Object.keys(memberOf(manifest, 'dependencies')).filter((name) => name !== 'salt-ts')
  for (const name of names) {
    const place = placeOf(name, folder)
    if (seen.has(place ?? name)) continue
    seen.add(place ?? name)
    if (place === undefined) {
      problems.push(`Its dependency ${name} is not installed: run npm install first.`)
      continue
    }
    const inside = await readManifest(path.join(place, 'package.json'))
    if (installScriptOf(place, inside) !== undefined)
      problems.push(
        `Its dependency ${name} has an install script, and minions run none (npm install --ignore-scripts): use another package.`,
      )
    problems.push(...(await problemsBelow(place, inside, seen)))
  }
  return problems
}

/** Return the folder of a package as Node finds it from another one. */
function placeOf(name: string, from: string): string | undefined {
  const place = path.join(from, 'node_modules', name)
  if (existsSync(path.join(place, 'package.json'))) return place
  const above = path.dirname(from)
  return above === from ? undefined : placeOf(name, above)
}
