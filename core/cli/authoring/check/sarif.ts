import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Finding, type RuleId, rules } from '../../../loader/check/rules.ts'
import { version } from '../../program/version.ts'

const ids = Object.keys(rules) as RuleId[]

/** Return findings as a log of SARIF 2.1.0 (OASIS): severities are its levels. */
export const sarif = (findings: readonly Finding[]): object => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'salt-ts check', version: version(), rules: ids.map(describedRule) } },
      columnKind: 'utf16CodeUnits',
      results: findings.map(result),
    },
  ],
})

const describedRule = (id: RuleId) => ({
  id,
  shortDescription: { text: `Finds ${rules[id].finds}.` },
  defaultConfiguration: { level: rules[id].severity },
})

const result = ({ rule, severity, file, line, column, message }: Finding) => ({
  ruleId: rule,
  ruleIndex: ids.indexOf(rule),
  level: severity,
  message: { text: message },
  locations: [
    {
      physicalLocation: {
        artifactLocation: { uri: path.isAbsolute(file) ? pathToFileURL(file).href : encodeURI(file) },
        region: { startLine: line, startColumn: column },
      },
    },
  ],
})
