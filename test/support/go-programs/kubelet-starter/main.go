// Starts a real kubelet as distributions of Kubernetes do, by the name that it is called with: k3s, rke2, k0s, kubelite or
// kubelet. Everything else that they do is reduced to what a node shows of it: the order of their steps, files, processes and log.
//
// Sources: k3s-io/k3s pkg/agent/run.go, pkg/daemons/agent, pkg/executor/embed; rancher/rke2 pkg/executor/staticpod, pkg/cli/defaults;
// k0sproject/k0s pkg/component/worker/kubelet.go, pkg/supervisor; canonical/microk8s run-kubelite-with-args, snap/snapcraft.yaml.
//
// The environment says what a test wants of it, read anew at every start:
//
//	STARTER_API      URL of the API server, which it waits for
//	STARTER_NODE     the Node's name
//	STARTER_IMPORT   how long the import of images takes, for example 20s
//	STARTER_VERSION  appended to the kubelet's version, for example +k3s1
//	STARTER_LISTEN   on a server: the address of the API server inside, which passes everything on to
//	STARTER_UPSTREAM this address,
//	STARTER_DELAY    after this time
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/component-base/version"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	if suffix := os.Getenv("STARTER_VERSION"); suffix != "" {
		must(version.SetDynamicVersion(version.Get().GitVersion + suffix))
	}
	switch program := filepath.Base(os.Args[0]); program {
	case "k3s", "rke2":
		runRancher(program)
	case "k0s":
		runK0s()
	case "kubelite":
		runKubelite()
	case "kubelet":
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	default:
		fatal("there is no %s here", program)
	}
}

// runInside ends the process with the kubelet, which handles signals by itself.
func runInside(args []string) {
	command := kubelet.NewKubeletCommand(context.Background())
	command.SetArgs(args)
	if err := command.Execute(); err != nil {
		say("error", "Shutdown request received: kubelet exited: %v", err)
		fatal("Error: kubelet exited: %v", err)
	}
	os.Exit(0)
}

// say logs as logrus does where nobody watches a terminal: k3s, RKE2 and k0s.
func say(level, format string, args ...any) {
	now := time.Now().UTC().Format(time.RFC3339)
	fmt.Fprintf(os.Stderr, "time=%q level=%s msg=%q\n", now, level, fmt.Sprintf(format, args...))
}

func fatal(format string, args ...any) {
	say("fatal", format, args...)
	os.Exit(1)
}

func must(err error) {
	if err != nil {
		fatal("%v", err)
	}
}

func duration(name string) time.Duration {
	text := os.Getenv(name)
	if text == "" {
		return 0
	}
	value, err := time.ParseDuration(text)
	must(err)
	return value
}
