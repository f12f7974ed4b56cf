import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generateDashboard } from './generate/dashboard.ts';
import { generateDoctorPage } from './generate/doctor-page.ts';
import { generateAuditStyle } from './generate/audit-style.ts';
import { generateArgoCd } from './generate/argocd.ts';
import { generateChart } from './generate/chart.ts';
import { generateDistributionComponents } from './generate/distribution-components.ts';
import { generateEditorSchemas } from './generate/editor-schemas.ts';
import { generatePoolDefinition } from './generate/pool-definition.ts';
import { generateValidators } from './generate/validators.ts';
import { generateExpectedInstallation } from './generate/expected-installation.ts';
import { generateKubeconfigPage } from './generate/kubeconfig-page.ts';
import { generateKubeletConfigPage } from './generate/kubelet-config-page.ts';
import { generatePowersPage } from './generate/powers-page.ts';
import { generateLicencesPage } from './generate/licences-page.ts';

/**
 * Writes the files that are made from other source files; with `--check` it only says which of them are out of date,
 * and fails. The generated files are committed, so that nothing has to be generated before a build or a test.
 */
const root = new URL('..', import.meta.url);
/** The chart holds the definitions. */
const generators = [
  generateEditorSchemas,
  generateValidators,
  generatePoolDefinition,
  generateKubeconfigPage,
  generateKubeletConfigPage,
  generatePowersPage,
  generateExpectedInstallation,
  generateDashboard,
  generateDoctorPage,
  generateDistributionComponents,
  generateChart,
  generateArgoCd,
  generateAuditStyle,
  generateLicencesPage,
];
const check = process.argv.includes('--check');
const stale: string[] = [];

let count = 0;
for (const generate of generators) {
  for (const [path, text] of generate()) {
    count += 1;
    const url = new URL(path, root);
    const present = await readFile(url, 'utf8').catch(() => '');
    if (present === text) continue;
    stale.push(path);
    if (check) continue;
    await mkdir(new URL('.', url), { recursive: true });
    await writeFile(url, text);
  }
}

if (stale.length === 0) {
  console.log(`${count} generated files are up to date`);
} else if (check) {
  console.error(
    `out of date: ${stale.join(', ')} (in ${fileURLToPath(root)}): run npm run generate and commit the result`,
  );
  process.exitCode = 1;
} else {
  console.log(`written: ${stale.join(', ')}`);
}
