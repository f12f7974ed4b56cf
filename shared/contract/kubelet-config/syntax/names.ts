const NAME_PART = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)$/;
const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

/** RFC 1123 label, as names of objects that become part of a DNS name have to be. */
export function isDnsLabel(text: string, maxLength = 63): boolean {
  return text.length <= maxLength && DNS_LABEL.test(text);
}

/** RFC 1123 subdomain: labels with dots between, at most 253 characters. */
function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => DNS_LABEL.test(label));
}

/** A key of labels, annotations and taints: `name` or `prefix.example.com/name`. */
export function isQualifiedName(text: string): boolean {
  const [first = '', second, ...more] = text.split('/');
  if (more.length > 0) return false;
  const name = second ?? first;
  return (second === undefined || isDnsSubdomain(first)) && name.length <= 63 && NAME_PART.test(name);
}

/** A value of labels and taints; may be empty. */
export function isLabelValue(text: string): boolean {
  return text === '' || (text.length <= 63 && NAME_PART.test(text));
}
