/** Settings of a run on GitHub Actions. */
type Run = Readonly<Record<string, string | undefined>>;

/**
 * What made a release, as the predicate of a SLSA provenance (https://slsa.dev/spec/v1.0/provenance). A signature of it, by the identity
 * of the same workflow run, vouches for it.
 *
 * @throws outside of GitHub Actions
 */
function provenanceOf(run: Run): object {
  const value = (name: string): string => {
    const found = run[name] ?? '';
    if (found === '') throw new Error(`${name} is not set: provenance is made on GitHub Actions`);
    return found;
  };
  const repository = `${value('GITHUB_SERVER_URL')}/${value('GITHUB_REPOSITORY')}`;
  // owner/name/.github/workflows/release.yaml@refs/tags/v1.2.3
  const [file = '', ref = ''] = value('GITHUB_WORKFLOW_REF').split('@');
  const path = file.slice(value('GITHUB_REPOSITORY').length + 1);
  return {
    buildDefinition: {
      buildType: 'https://slsa-framework.github.io/github-actions-buildtypes/workflow/v1',
      externalParameters: { workflow: { ref, repository, path } },
      internalParameters: { github: { event_name: value('GITHUB_EVENT_NAME') } },
      resolvedDependencies: [
        { uri: `git+${repository}@${value('GITHUB_REF')}`, digest: { gitCommit: value('GITHUB_SHA') } },
      ],
    },
    runDetails: {
      builder: { id: `${value('GITHUB_SERVER_URL')}/${value('GITHUB_WORKFLOW_REF')}` },
      metadata: {
        invocationId: `${repository}/actions/runs/${value('GITHUB_RUN_ID')}/attempts/${value('GITHUB_RUN_ATTEMPT')}`,
      },
    },
  };
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(provenanceOf(process.env), null, 2)}\n`);
