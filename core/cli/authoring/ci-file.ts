/** The workflow that tests a project of extensions on GitHub. */
import { existsSync } from 'node:fs'
import path from 'node:path'

/** Where CI systems are configured. */
const CONFIGURATIONS = [
  '.github/workflows',
  '.gitea/workflows',
  '.forgejo/workflows',
  '.gitlab-ci.yml',
  '.circleci',
  '.travis.yml',
  '.drone.yml',
  '.woodpecker.yml',
  '.woodpecker.yaml',
  '.woodpecker',
  '.buildkite',
  '.builds',
  '.build.yml',
  'Jenkinsfile',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
]

const COMMANDS = ['npm ci --ignore-scripts', 'npx tsc', 'npx salt-ts check', 'npx salt-ts test']

const WORKFLOW = `# npm ci needs the file package-lock.json. A link to salt-ts does not work there: npm install --save-dev salt-ts
name: test
on: [push, pull_request]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [20, 24]
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: \${{ matrix.node }}
          cache: npm
${COMMANDS.map((command) => `      - run: ${command}\n`).join('')}`

/**
 * Return the workflow for a project, unless it has a CI system already or is only a part of a repository: GitHub reads the
 * workflows at the root of a repository.
 */
export function ciFile(project: string): { readonly path: string; readonly text: string } | undefined {
  const isConfigured = CONFIGURATIONS.some((name) => existsSync(path.join(project, name)))
  if (isConfigured || (repositoryOf(project) ?? project) !== project) return undefined
  return { path: path.join(project, '.github/workflows/test.yml'), text: WORKFLOW }
}

function repositoryOf(folder: string): string | undefined {
  if (existsSync(path.join(folder, '.git'))) return folder
  const above = path.dirname(folder)
  return above === folder ? undefined : repositoryOf(above)
}
