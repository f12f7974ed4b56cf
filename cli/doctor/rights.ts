/** A right that the manifests grant to one of the programs, in the words of RBAC. */
export interface Right {
  /** The component of `deploy/components` that grants it; absent for what every installation needs. */
  readonly component?: string;
  /** Name of the service account. */
  readonly account: string;
  readonly verb: string;
  readonly group: string;
  /** With the subresource: `nodes/status`. */
  readonly resource: string;
  /** Of the only object that it is granted for; absent for all of them. */
  readonly name?: string;
  /** Absent for the whole cluster. */
  readonly namespace?: string;
}

/** `patch leases.coordination.k8s.io kubelet-gitops-reconciler in kubelet-gitops`. */
export function formatRight({ verb, group, resource, name, namespace }: Right): string {
  const [plural = '', sub] = resource.split('/');
  const full = `${plural}${group === '' ? '' : `.${group}`}${sub === undefined ? '' : `/${sub}`}`;
  return `${verb} ${full}${name === undefined ? '' : ` ${name}`}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
