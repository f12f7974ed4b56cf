/**
 * Stands for the kubelet where only its unit, its config file and its health endpoint matter: reads `--config`, does not
 * start with 666 pods, and otherwise answers on `healthzPort` until it is told to end. Perl, because every Debian has it.
 */
export const FAKE_KUBELET = `#!/usr/bin/perl
use strict;
use IO::Socket::INET;
my ($file) = map { /^--config=(.*)/ ? $1 : () } @ARGV;
open(my $in, '<', $file) or die "cannot read $file\\n";
my $config = join('', <$in>);
die "maxPods: 666 makes no sense\\n" if $config =~ /"?maxPods"?: *666/;
my ($port) = $config =~ /"?healthzPort"?: *(\\d+)/;
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 16, ReuseAddr => 1) or die "port $port: $!\\n";
while (1) {
  my $client = $server->accept or next;
  while (my $line = <$client>) { last if $line =~ /^\\r?\\n$/ }
  print $client "HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok";
  close $client;
}
`;

/** As kubeadm's unit, but for the pause before an automatic restart. */
export const FAKE_KUBELET_UNIT = `[Unit]
Description=kubelet
StartLimitIntervalSec=0
[Service]
ExecStart=/usr/local/bin/kubelet --config=/var/lib/kubelet/config.yaml
Restart=always
RestartSec=500ms
[Install]
WantedBy=multi-user.target
`;

/** The node's own config. The kubelet serves no API, so that its health is all there is to judge by. */
export const localConfig = (healthzPort: number): string => `# as the node was provisioned
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
healthzPort: ${healthzPort}
enableServer: false
maxPods: 42
`;
